"""The one OpenAPI document of all services, and the page that shows it."""
