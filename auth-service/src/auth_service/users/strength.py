"""Which passwords are refused: those that guessing begins with."""

import re
from collections.abc import Sequence

from zxcvbn_rs_py import zxcvbn

from chassis.core.problems import Invalid

_PRODUCT = ("traceline", "traceline-admin")
_ENOUGH = 10**8
"""Guesses, as the library counts them: it takes eight characters without any pattern for so many."""
_WORD = re.compile(r"\w+")
_OWN = "It is too close to your email or to the name of this product."


def check(password: str, own: Sequence[str], pointer: str) -> None:
    """Raise Invalid, at `pointer`, for a password that is guessed early; `own`: what is known of its user."""
    reason = weakness(password, own)
    if reason is not None:
        message = f"This password is easy to guess. {reason}"
        raise Invalid.field(pointer, message, "password_too_weak")


def weakness(password: str, own: Sequence[str]) -> str | None:
    """Return why a password is guessed early, and what would help; None when it is not.

    Takes some milliseconds for long ones, and the interpreter's lock meanwhile.
    """
    known = [*_PRODUCT, *own, *(word for text in own for word in _WORD.findall(text))]
    judged = zxcvbn(password, known)
    if judged.guesses >= _ENOUGH:
        return None
    feedback = judged.feedback
    assert feedback is not None, "so few guesses are never a high score"
    warning = _OWN if feedback.warning is None and zxcvbn(password).guesses >= _ENOUGH else feedback.warning
    return " ".join(str(one) for one in (warning, *feedback.suggestions) if one is not None)
