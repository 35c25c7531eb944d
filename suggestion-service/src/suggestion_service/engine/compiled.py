"""Compiling the loops that scoring runs through."""

from collections.abc import Callable
from typing import Any

from numba import njit


def compiled(function: Callable[..., Any]) -> Any:
    """Compile a function when it is first called, and keep what was compiled for the next process, if it can be.

    It holds no lock of the interpreter while it runs.
    """
    try:
        return njit(nogil=True, cache=True)(function)
    except RuntimeError:  # neither its folder nor the user's own can be written, as in a read-only container
        return njit(nogil=True)(function)
