"""Signing in at an identity provider by OpenID Connect: whose account it is, what they may, and the end of it."""
