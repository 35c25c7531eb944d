"""Text of strangers in Markdown: it is shown as it is, and does nothing.

Names, messages and branches come from whoever opens a pull request. In code nothing of Markdown, of HTML, no mention
and no address means anything; elsewhere its signs are escaped, and what hosts read after Markdown is taken apart.
"""

import re
from collections.abc import Iterable, Mapping
from urllib.parse import quote

_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
)
_ANSI = re.compile("\x1b\\[[0-9;?]*[ -/]*[@-~]")
_TICKS = re.compile("`+")
_SIGNS = re.compile(r"([\\`*_\[\]<>#!|~&$@])")
_BEGINNING = re.compile(r"^(\d*)([-+.)=])")
_JOINER = "\u2060"
"""Has no width; between two letters of a mention or an address neither is one."""
_READ_LATER = re.compile(r"([@#!~%$&:\[](?=\S)|(?i:www(?=\.)|GH(?=-\d)))")
_SECRET_NAME = re.compile(r"TOKEN|SECRET|PASSWORD|PASSWD|PRIVATE|CREDENTIAL|API_?KEY|ACCESS_?KEY", re.IGNORECASE)
_SECRET = re.compile(
    r"\b(?:gh[oprsu]_\w{20,}|github_pat_\w{20,}|gl[a-z]{2,6}-[\w-]{16,}|tlp_\w{16,}|AKIA[0-9A-Z]{16}|xox[a-z]-[\w-]{10,})"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
    re.ASCII | re.DOTALL,
)
_SHORTEST_SECRET = 8


class Secrets:
    """What must never be in a comment: values of variables that are secrets, and what looks like a token."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        found = {value for name, value in variables.items() if _SECRET_NAME.search(name)}
        self._values = sorted((value for value in found if len(value) >= _SHORTEST_SECRET), key=len, reverse=True)

    def hide(self, text: str) -> str:
        """Return a text without them."""
        for value in self._values:
            text = text.replace(value, "***")
        return _SECRET.sub("***", text)


def clean(text: str) -> str:
    """Return a text whose lines end with a line feed, without letters that nobody sees or that turn others round."""
    text = _ANSI.sub("", text).replace("\r\n", "\n").replace("\r", "\n")
    return _UNSEEN.sub("\ufffd", text)


def shorten(text: str, most: int) -> str:
    """Return at most so many letters of a text."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def as_code(text: str, most: int = 200, *, in_table: bool = False) -> str:
    """Return a text in one line of code."""
    flat = shorten(" ".join(clean(text).split()), most) or "-"
    ticks = "`" * (max((len(run) for run in _TICKS.findall(flat)), default=0) + 1)
    pad = " " if flat[0] == "`" or flat[-1] == "`" else ""
    code = f"{ticks}{pad}{flat}{pad}{ticks}"
    return code.replace("|", "\\|") if in_table else code


def as_block(text: str, most: int = 2000) -> str:
    """Return a text of several lines as a block of code."""
    whole = shorten(clean(text).strip("\n"), most)
    ticks = "`" * max(3, max((len(run) for run in _TICKS.findall(whole)), default=0) + 1)
    return f"{ticks}text\n{whole}\n{ticks}"


def as_text(text: str, most: int = 600) -> str:
    """Return a text in one line, in which no sign means anything."""
    flat = shorten(" ".join(clean(text).split()), most)
    escaped = _BEGINNING.sub(r"\1\\\2", _SIGNS.sub(r"\\\1", flat))
    return _READ_LATER.sub(rf"\1{_JOINER}", escaped)


def link(label: str, address: str) -> str:
    """Return a link to an address of our own; `label` is Markdown already."""
    return f"[{label}](<{quote(address, safe=':/?#[]@!$&*+,;=%~')}>)"


def fit(blocks: Iterable[str], most: int, ending: str) -> str:
    """Return the blocks that have room in so many bytes, none of them cut, and `ending` where some have not."""
    parts: list[str] = []
    left = most - len(ending.encode()) - 2
    for block in blocks:
        left -= len(block.encode()) + 2
        if left < 0:
            parts.append(ending)
            break
        parts.append(block)
    return "\n\n".join(parts) + "\n"
