"""Servers on this machine: Debian packages, free ports, a RabbitMQ node of one's own."""
