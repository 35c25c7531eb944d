"""Which form of an answer a caller prefers (RFC 9110, section 12.5.1)."""

from collections.abc import Mapping
from typing import TypeVar

Form = TypeVar("Form")


def preferred(accept: str | None, forms: Mapping[str, Form]) -> Form:
    """Return the form whose media type `Accept` prefers; the first of `forms` where it does not say or takes none.

    The first also wins over those that are as welcome as it is.
    """
    qualities = {form: _quality(accept or "*/*", media_type) for media_type, form in forms.items()}
    return max(forms.values(), key=lambda form: qualities[form])


def _quality(accept: str, media_type: str) -> float:
    """Return how welcome a media type is, 0..1: what the range says that names it most closely."""
    best = (-1, 0.0)
    ranges = ("*/*", f"{media_type.partition('/')[0]}/*", media_type)
    for entry in accept.split(","):
        name, *parameters = (part.strip().lower() for part in entry.split(";"))
        if name in ranges:
            best = max(best, (ranges.index(name), _weight(parameters)))
    return best[1]


def _weight(parameters: list[str]) -> float:
    for parameter in parameters:
        if parameter.startswith("q="):
            try:
                return min(1.0, max(0.0, float(parameter[2:])))
            except ValueError:
                return 0.0
    return 1.0
