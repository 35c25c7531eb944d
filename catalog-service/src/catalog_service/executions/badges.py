"""Badges: a figure of the record as a picture, for the README of a repository."""

from xml.sax.saxutils import escape

_GREEN, _YELLOW, _RED, _GREY = "#2e7d32", "#8a6100", "#c62828", "#5f6368"
"""White letters can be read on each of them."""
_LABEL = "#3c4043"
_LETTER, _EDGE, _HEIGHT = 6.8, 6, 20
"""Pixels of a letter, of what is beside a text, and of the whole."""
_FEW = 80
"""Percent from which a share is not red."""


def draw_share(label: str, count: int, total: int) -> str:
    """Return the badge of a share; what is not whole is never 100 %."""
    if not total:
        return _draw(label, "no requirements", _GREY)
    percent = 100 * count // total
    colour = _GREEN if count == total else _YELLOW if percent >= _FEW else _RED
    return _draw(label, f"{percent} %", colour)


def draw_gate(*, passed: bool) -> str:
    """Return the badge of a gate."""
    return _draw("gate", "passes" if passed else "does not pass", _GREEN if passed else _RED)


def _draw(label: str, value: str, colour: str) -> str:
    left, right = (round(len(text) * _LETTER) + 2 * _EDGE for text in (label, value))
    said = escape(f"{label}: {value}")
    texts = "".join(
        f'<text x="{at}" y="14" textLength="{width - 2 * _EDGE}">{escape(text)}</text>'
        for text, at, width in ((label, _EDGE, left), (value, left + _EDGE, right))
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="{_HEIGHT}" role="img"'
        f' aria-label="{said}"><title>{said}</title>'
        f'<rect width="{left + right}" height="{_HEIGHT}" rx="3" fill="{_LABEL}"/>'
        f'<rect x="{left}" width="{right}" height="{_HEIGHT}" rx="3" fill="{colour}"/>'
        f'<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">{texts}</g></svg>\n'
    )
