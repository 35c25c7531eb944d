"""What auth-service's events say of projects: what each wants of its record, and that it is gone."""
