"""The record: requirements, test cases, the links between them, and what they cover."""
