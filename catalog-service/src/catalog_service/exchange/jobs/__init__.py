"""Imports as jobs: what is uploaded, how far it is, what of it is refused; their endpoints and their states."""
