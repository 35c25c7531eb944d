"""What a person typed into a search field, taken apart: words, "phrases", -without, this or that."""

import re
from dataclasses import dataclass

_PIECE = re.compile(r'(?P<without>-?)(?:"(?P<phrase>[^"]*)"?|(?P<word>[^\s"]+))')


@dataclass(frozen=True, slots=True)
class Token:
    """A word or a phrase as it was typed, and where in the query: `text[start:end]`."""

    text: str
    start: int
    end: int
    excluded: bool
    phrase: bool
    alternative: int
    """Pieces of one number belong together; what is found has all pieces of one of the alternatives."""


def tokenize(text: str) -> list[Token]:
    """Return the pieces of a query; no text is a wrong query."""
    pieces: list[Token] = []
    alternative = 0
    for match in _PIECE.finditer(text):
        excluded = bool(match["without"])
        if match["word"] is not None and match["word"].lower() == "or" and not excluded and pieces:
            alternative += 1
            continue
        kind = "phrase" if match["phrase"] is not None else "word"
        # In the middle of a word it is a hyphen.
        excluded = excluded and (match.start() == 0 or text[match.start() - 1].isspace())
        pieces.append(Token(match[kind], match.start(kind), match.end(kind), excluded, kind == "phrase", alternative))
    return pieces
