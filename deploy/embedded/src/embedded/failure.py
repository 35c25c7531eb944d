"""Why Traceline cannot start."""


class StartFailure(Exception):
    """Its message is one sentence for the person at the terminal."""
