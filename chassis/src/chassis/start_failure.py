"""Why a program of Traceline cannot start."""


class StartFailure(Exception):
    """Its message is one sentence for the person at the terminal; the program ends with exit code 1."""
