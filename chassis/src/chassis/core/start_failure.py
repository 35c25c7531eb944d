"""Why a program of Traceline cannot start."""


class StartFailure(Exception):
    """Its message is for the person at the terminal: a sentence, or a line for each thing that is wrong.

    The program ends with exit code 1.
    """
