"""Sessions of people in browsers: `/session`, which logs in and out at auth-service and keeps the token in a cookie."""
