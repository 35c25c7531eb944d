"""`python -m benchmarks`: how fast Traceline is, each figure beside something to compare it with."""
