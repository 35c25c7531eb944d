"""What every service stands on: database, events, HTTP manners, identity. It knows no domain."""
