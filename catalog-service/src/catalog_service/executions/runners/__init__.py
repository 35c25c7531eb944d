"""How a test names its test case, an example a runner: what a person pastes, and a report of it that a test reads."""
