"""Where a test failed, as the trace of its runner says it."""

import re
from collections.abc import Iterator

_LONGEST = 300
_PYTHON = re.compile(r'^ *File "([^"\n]{1,300})", line (\d{1,7})', re.MULTILINE)
_PYTEST = re.compile(r"^([^\s:]{1,300}\.\w{1,8}):(\d{1,7}): ?", re.MULTILINE)
_CALL = re.compile(
    r"^[ \t]*at (?!org\.|java\.|jdk\.|junit\.|sun\.).{0,400}?\(?((?:file://)?[^\s():]{1,300}\.\w{1,8}):(\d{1,7})(?::\d{1,7})?\)?$",
    re.MULTILINE,
)
_DOTNET = re.compile(r"^[ \t]*at .{0,400}? in ([^\n]{1,300}):line (\d{1,7})$", re.MULTILINE)
_ANY = re.compile(r"(?<![\w/.])((?:[\w@.-]{1,80}/){0,20}[\w@.-]{1,80}\.[A-Za-z]\w{0,7}):(\d{1,7})(?!\d)")
_NOT_OURS = re.compile(r"node_modules|node:|site-packages|dist-packages|/lib/python|^<|^java\.|^org\.junit|^internal/")


def find_place(trace: str) -> tuple[str, int] | None:
    """Return the file and line of a failure; None where the trace names none."""
    for file, line in _places(trace[-100_000:]):
        if not _NOT_OURS.search(file) and len(file) <= _LONGEST and int(line):
            return file.removeprefix("file://"), int(line)
    return None


def _places(trace: str) -> Iterator[tuple[str, str]]:
    """Yield places, the likeliest first: what Python calls last is where it failed, elsewhere what comes first."""
    yield from reversed(_PYTEST.findall(trace))
    yield from reversed(_PYTHON.findall(trace))
    yield from _DOTNET.findall(trace)
    yield from _CALL.findall(trace)
    yield from _ANY.findall(trace)
