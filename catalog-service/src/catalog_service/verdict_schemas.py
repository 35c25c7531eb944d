"""Verdicts as the API answers them, wherever that is."""

from pydantic import BaseModel


class CountsByVerdict(BaseModel):
    """How many requirements have which verdict."""

    uncovered: int
    failed: int
    flaky: int
    partial: int
    not_run: int
    stale: int
    passed: int
