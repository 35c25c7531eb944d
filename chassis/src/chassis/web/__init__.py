"""Requests and answers of an HTTP API: parsing, problem documents, paging, idempotency, and calls to other services."""
