"""Steps that stand in one cell: numbered, labelled, in one line, or with a semicolon between them."""

import re

_NUMBERED = re.compile(r"\s*\(?(\d{1,4})\s*([.)、．:：]|\s-)\s*")
_BULLET = re.compile(r"\s*[-*•–]\s+")
_BREAK = re.compile(r"\r\n|\r|\n")
_LABEL = re.compile(
    r"^[ \t]{0,9}(?:test ?)?(?:steps?|schritt|étape|etape|paso|er|exp(?:ected)?(?: results?)?|results?|ergebnis"
    r"|résultat)"
    r"[ \t]{0,3}[-#]?[ \t]{0,3}(\d{1,3})[ \t]{0,3}[:.)\-–][ \t]{0,3}",
    re.IGNORECASE | re.MULTILINE,
)
_IN_LINE = re.compile(r"(?:^|(?<=\s))\(?(\d{1,2})([.)])\s+(?=\S)")
_NAMES_RESULT = re.compile(r"\s{0,3}[(\[]\s{0,2}ER[ \t]{0,2}[-#]?[ \t]{0,2}(\d{1,3})\s{0,2}[)\]]", re.IGNORECASE)
_FEWEST_ACTS = 3
_LONGEST_ACT = 12
"""Words of a part between semicolons that is an act by itself."""


def in_lines(text: str) -> str:
    """Return a text whose steps have a line each, with their numbers: of lines `Step 1: a`, or `1. a 2. b` in one."""
    if not text or not any(map(str.isdigit, text)):
        return text
    text = _LABEL.sub(r"\1. ", text)
    if "\n" in text.strip():
        return text
    found = list(_IN_LINE.finditer(text))
    if len(found) < 2 or found[0].start() > len(text) - len(text.lstrip()):
        return text
    if [int(one[1]) for one in found] != list(range(1, len(found) + 1)) or len({one[2] for one in found}) > 1:
        return text
    ends = [*(one.start() for one in found[1:]), len(text)]
    return "\n".join(text[one.start() : end].strip() for one, end in zip(found, ends, strict=True))


def starts_numbered(text: str) -> bool:
    """Check whether a text begins with a number of a step."""
    return _NUMBERED.match(text) is not None


def split_acts(text: str) -> list[str]:
    """Return the parts of a text in one line with semicolons between acts, else the text."""
    parts = [part.strip() for part in text.split(";") if part.strip()] if "\n" not in text else []
    lengths = [len(part.split()) for part in parts]
    if len(parts) < _FEWEST_ACTS or min(lengths) < 2 or max(lengths) > _LONGEST_ACT:
        return [text]
    return parts


def numbers_named(actions: list[str], said: str) -> list[str] | None:
    """Return what each action expects where actions name results by their numbers, `(ER-2)`; None where none does."""
    if not any(map(_NAMES_RESULT.search, actions)):
        return None
    results: dict[int, str] = {}
    for line in _BREAK.split(said):
        match = _NUMBERED.match(line)
        if match is not None:
            results[int(match[1])] = line[match.end() :].strip()
        elif results:
            last = next(reversed(results))
            results[last] = f"{results[last]}\n{line}".strip()
    wanted = [[int(one) for one in _NAMES_RESULT.findall(action)] for action in actions]
    named = [number for numbers in wanted for number in numbers]
    if not results or len(set(named)) < len(named) or set(results) != set(named):
        return None
    return ["\n".join(results[number] for number in numbers) for numbers in wanted]


def split_numbered(text: str, at_most: int = 500, *, gaps: bool = False) -> list[str]:
    """Return the parts of a text by its numbered lines, or by its bullets; the text itself where it has neither.

    A line belongs to the number above it unless it has the next one: numbers within a part begin anew. With `gaps` it
    may be a later one written alike: the parts between are empty, as of steps of which nothing is expected.
    """
    if not text.strip():
        return []
    lines = _BREAK.split(text)
    parts: list[list[str]] = []
    before: list[str] = []
    mark = ""
    for line in lines:
        match = _NUMBERED.match(line)
        number = int(match[1]) if match else 0
        is_later = gaps and match is not None and number > len(parts) and mark in ("", match[2])
        if match and (number == len(parts) + 1 or is_later) and number <= at_most:
            parts.extend([] for _ in range(len(parts) + 1, number))
            parts.append([line[match.end() :]])
            mark = mark or match[2]
        elif parts:
            parts[-1].append(line)
        else:
            before.append(line)
    if parts and not any(line.strip() for line in before):
        return [_unquoted("\n".join(part).strip()) for part in parts]
    filled = [line for line in lines if line.strip()]
    if at_most > 1 and len(filled) > 1 and all(_BULLET.match(line) for line in filled):
        return [_BULLET.sub("", line, count=1).strip() for line in filled][:at_most]
    return [text.strip()]


def _unquoted(text: str) -> str:
    """Return the text without the quotes that some tools put around each step."""
    if len(text) >= 2 and text[0] == text[-1] == '"':
        return text[1:-1].replace('""', '"')
    return text
