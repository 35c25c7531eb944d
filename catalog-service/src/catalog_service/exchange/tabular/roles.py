"""Items that a cell names as tools write it: `is verified by: LFT-3 - Check, refines: LFT-1 - Doors`."""

import re

_ENTRY = re.compile(
    r"(?:^|[,;|\n])\s{0,9}(?:(?P<role>[^\W\d_][^\d,;:|\n]{1,40}):\s{1,9})?"
    r"(?P<key>[^\s,;:|]{0,60}\d[^\s,;:|]{0,40})(?P<title>\s{1,9}[-\u2013\u2014]\s{1,9}\S)?(?=[^\s,;|]|\s{0,9}(?:$|[,;|\n]))"
)
_OF_TESTS = re.compile("verif|validat|valid\u00e9|test|cover|deck|pr\u00fcf|nachgewiesen|vérif|couv")
_PASSIVE = re.compile(r"\b(by|durch|von|par|por)\b")


def entries_in(text: str) -> list[tuple[str, str]]:
    """Return the role and the key of each item that a cell names with a role or a title; empty where none does.

    A title may have commas: what follows one and has no key is a part of it.
    """
    if ": " not in text and " - " not in text and "\u2013" not in text and "\u2014" not in text:
        return []
    found = list(_ENTRY.finditer(text))
    if not found or found[0].start() != 0 or not any(one["role"] or one["title"] for one in found):
        return []
    return [(one["role"] or "", one["key"]) for one in found]


def leads_to(role: str, end: str) -> bool:
    """Check whether a role leads to a test case that verifies the item, or to a requirement that a test case verifies.

    Without a role it leads to whatever its column is of.
    """
    look = role.casefold()
    return not role or (_OF_TESTS.search(look) is not None and bool(_PASSIVE.search(look)) == (end == "test_case"))
