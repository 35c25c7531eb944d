"""The only public address: checks JWTs, routes /api/v1, merges the OpenAPI documents."""
