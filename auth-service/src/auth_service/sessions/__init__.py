"""Logging in and out, changing the password, and which tokens do not work any more."""
