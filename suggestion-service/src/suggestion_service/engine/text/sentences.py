"""From prose, lists and steps to sentences, one by one."""

import re
from collections.abc import Iterator

MOST_SENTENCES = 32
"""So many of an item are looked at."""
LONGEST_SENTENCE = 400
"""Characters; models read some 250 tokens."""
_READ = 4 * MOST_SENTENCES * LONGEST_SENTENCE
_WRAPPED = 60
"""A line of so many characters was wrapped, a shorter one ended on purpose."""

_LIST_MARK = re.compile(r"(?:[-*+•‣▪·–—]|#{1,6}|\(?\d{1,3}(?:\.\d{1,3})*[.)]|\(?[a-zA-Z][.)])\s+")
_END = re.compile(r"[.!?]+[\"'”’)\]]*(?=\s)|;(?=\s)|[。！？；]+")
_ABBREVIATIONS = re.compile(
    "al|approx|cf|ch|dr|e.g|etc|excl|figs?|i.e|incl|max|min|mrs?|ms|nos?|pp?|ref|resp|sec|st|ver|viz|vol|vs"
)
_SAYS = re.compile(r"\w\W*\w\W*\w")
"""A piece with fewer letters says nothing."""


def sentences(text: str) -> Iterator[str]:
    """Return the sentences of prose, lists and steps, without list marks; what is too long comes in pieces."""
    for block in _blocks(text[:_READ]):
        for sentence in _split(block):
            for piece in _pieces(sentence):
                if _SAYS.search(piece):
                    yield piece


def _blocks(text: str) -> Iterator[str]:
    """Return what belongs together: a list item, or lines of prose that were wrapped."""
    block: list[str] = []
    for line in map(str.strip, text.splitlines()):
        mark = _LIST_MARK.match(line)
        if block and (mark or not line or not _goes_on(block[-1], line)):
            yield " ".join(block)
            block = []
        if said := line[mark.end() :] if mark else line:
            block.append(said)
    if block:
        yield " ".join(block)


def _goes_on(before: str, line: str) -> bool:
    return line[:1].islower() or before[-1] in ",(-/" or len(before) >= _WRAPPED


def _split(block: str) -> Iterator[str]:
    start = 0
    for end in _END.finditer(block):
        if end[0] == "." and _is_no_end(block, start, end):
            continue
        yield block[start : end.end()].strip()
        start = end.end()
    yield block[start:].strip()


def _is_no_end(block: str, start: int, dot: re.Match[str]) -> bool:
    """Check whether a dot ends an abbreviation, a single letter, or the number of a step, not a sentence."""
    following = block[dot.end() : dot.end() + 8].lstrip()
    if following[:1].islower():
        return True
    before = block[max(start, dot.start() - 16) : dot.start()].split()
    word = before[-1].lower().lstrip("([\"'") if before else ""
    is_step_number = word.isdigit() and len(word) < 3 and block[start : dot.start()].strip() == word
    return _ABBREVIATIONS.fullmatch(word) is not None or len(word) == 1 or is_step_number


def _pieces(sentence: str) -> Iterator[str]:
    while len(sentence) > LONGEST_SENTENCE:
        cut = sentence.rfind(" ", LONGEST_SENTENCE // 2, LONGEST_SENTENCE)
        cut = cut if cut > 0 else LONGEST_SENTENCE
        yield sentence[:cut]
        sentence = sentence[cut:].strip()
    if sentence:
        yield sentence
