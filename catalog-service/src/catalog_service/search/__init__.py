"""Full-text search over requirements and test cases together."""
