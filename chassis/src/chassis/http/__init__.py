"""The manners of the HTTP API: strict bodies, problems, ETags, pages, filters, idempotency keys."""
