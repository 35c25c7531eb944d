"""What every service stands on: database, events, HTTP manners, identity. It knows no domain."""

__version__ = "0.1.0"
