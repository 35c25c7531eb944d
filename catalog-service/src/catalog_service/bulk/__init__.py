"""Changes of many requirements, test cases or links by one request."""
