"""Service accounts: who owns the API tokens of a project's pipelines, so that no person has to."""
