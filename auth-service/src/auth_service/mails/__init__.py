"""Mails with one-time links: asked for in a table, sent by the worker."""
