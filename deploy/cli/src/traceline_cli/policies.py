"""The rules of a gate, as options say them."""

import json
import math
import os
from pathlib import Path
from typing import Any

import click

from traceline_cli.failures import Exit, Failure


def check_not_blank(_: click.Context, __: click.Parameter, said: str | None) -> str | None:
    """Return what was said; a variable that is not set is no wish for the gate of something else."""
    if said is not None and not said.strip():
        raise click.BadParameter("It is blank: is its variable set? Leave it out where it is not meant.")
    return said


def read_policy(policy: str | None) -> Any:
    """Return the rules of a file; None when `policy` is none.

    Never of a file that has the name of a saved policy: a pull request could add it, and soften its own gate.
    """
    if policy is None or {"/", os.sep}.isdisjoint(policy):
        return None
    try:
        rules = json.loads(Path(policy).read_bytes(), parse_constant=_finite, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise Failure(Exit.WRONG_USE, f"{policy} is no JSON: {error}.") from None
    if rules is None:
        raise Failure(Exit.WRONG_USE, f"{policy} holds no rules, but null.")
    return rules


def _finite(number: str) -> float:
    value = float(number)
    if not math.isfinite(value):
        raise ValueError(f"{number} is no number that can be sent")
    return value
