"""Results of tests, from CI and from people: runs, what they say of test cases, and what follows for requirements."""
