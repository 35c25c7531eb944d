"""What a program measures, and `GET /metrics` on METRICS_PORT, where Prometheus reads it.

What the program does is counted where it does it; what its database knows is read when somebody asks.
"""
