"""Which project the running code works in: the boundary of everything that is recorded."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

MAIN: Final = "MAIN"
"""The project of whoever names none, and of everything from before there were projects. It always exists."""

NONE: Final = ""
ALL: Final = "*"
"""No key of a project, and neither is NONE: keys are of A-Z and 0-9."""

current: ContextVar[str] = ContextVar("project", default=NONE)
"""The key of the project; NONE outside of any, ALL for what works across projects."""


@contextmanager
def within(key: str) -> Iterator[None]:
    """Work in one project within: nothing of another can be read, counted or changed."""
    token = current.set(key)
    try:
        yield
    finally:
        current.reset(token)


@contextmanager
def across() -> Iterator[None]:
    """Work across all projects within: for what keeps the machinery going, never for what a person asks for.

    What is written within must name its project.
    """
    with within(ALL):
        yield


def key_or_none() -> str:
    """Return the key of the project that the running code works in; empty when it is in none, or in all."""
    key = current.get()
    return NONE if key == ALL else key


def address(path: str) -> str:
    """Return `path`, which begins with /api/v1, as it is called for the project that the running code works in."""
    key = key_or_none()
    return path if key in (NONE, MAIN) else path.replace("/api/v1", f"/api/v1/projects/{key}", 1)


def page_address(path: str) -> str:
    """Return `path` of the page, such as /results, for the project that the running code works in."""
    key = key_or_none()
    return f"/p/{key or MAIN}{path}"
