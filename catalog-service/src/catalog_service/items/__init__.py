"""What requirements and test cases have in common, written once over a description of the kind."""
