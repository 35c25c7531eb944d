"""Links between requirements and test cases, and what makes them suspect."""
