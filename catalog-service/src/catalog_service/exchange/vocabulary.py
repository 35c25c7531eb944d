"""The words that tools have for statuses, priorities and types, and what they are here."""

import re
from collections.abc import Mapping

from catalog_service.exchange.words import fold, words
from chassis.core.wording import is_negated

_WORD = re.compile(r"[^a-z0-9]+")


def normal(text: str) -> str:
    """Return a name as names are compared: lower case, words apart by one blank, camel case as words."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", text)
    return _WORD.sub(" ", spaced.lower()).strip()


def _words(values: str, **meanings: str) -> dict[str, str]:
    """Return what words mean: these, and those of other languages that `values` has in tables."""
    elsewhere = {
        fold(word): meaning for meaning, others in words()["values"].get(values, {}).items() for word in others
    }
    return elsewhere | {word.strip(): meaning for meaning, known in meanings.items() for word in known.split(",")}


REQUIREMENT_STATUSES = _words(
    "requirements.status",
    draft="draft, new, open, proposed, created, initial, in work, in progress, wip, in review, to be reviewed, "
    "for review, review, under review, pending, submitted, defined, analysed, analyzed, to do, todo, backlog, "
    "incomplete, not started",
    approved="approved, accepted, agreed, released, baselined, valid, reviewed, confirmed, final, active, committed, "
    "ready",
    implemented="implemented, done, complete, completed, resolved, realized, realised, fixed, satisfied, delivered, "
    "in production",
    tested="tested, verified, validated, passed, covered",
    closed="closed, rejected, obsolete, deleted, deprecated, removed, cancelled, canceled, withdrawn, retired, "
    "superseded, not applicable, n a, archived, dropped, inactive",
)
TEST_CASE_STATUSES = _words(
    "test_cases.status",
    draft="draft, new, open, proposed, in work, in progress, wip, in review, review, rework, to do, todo, "
    "under construction, design, readyforreview, ready for review, review in progress",
    ready="ready, approved, accepted, agreed, final, released, active, valid, reviewed, implemented, done, finished",
    deprecated="deprecated, obsolete, future, deleted, archived, retired, cancelled, canceled, rejected, closed, "
    "inactive, withdrawn, removed",
    executing="executing",
    passed="passed, pass",
    failed="failed, fail",
    blocked="blocked",
)
PRIORITIES = _words(
    "priority",
    critical="critical, blocker, highest, urgent, must, must have, mandatory, very high, immediate, essential, smoke, "
    "don t miss, dontmiss, showstopper, vital, p0, must test",
    high="high, major, should, should have, important, rather high, worthwhile, p1, very desirable",
    medium="medium, normal, moderate, average, default, desirable, could, could have, p2, test if important",
    low="low, minor, rather low, lowest, trivial, optional, nice to have, would, wont, won t, won t have, "
    "very low, luxury, p3, test if time, if time permits, don t test",
)
LINK_TYPES = _words(
    "link_type",
    verifies="verifies, verify, verified by, is verified by, verification, tests, tested by, is tested by, test",
    validates="validates, validate, validated by, is validated by, validation",
    covers="covers, cover, covered by, is covered by, satisfies, satisfied by, coverage",
    related="related, relates to, related to, is related to, link, trace, traces, traces to",
)
_TEST_CASE_TYPES = {
    kind: re.compile(rf"\b(?:{'|'.join(re.split(', *', words))})\b")
    for kind, words in {
        "integration": "integration, interface, end to end, e2e, system integration",
        "performance": "performance, load, stress",
        "security": "security, penetration, cybersecurity",
        "ui": "ui, gui, usability, user interface, ux, accessibility",
        "regression": "regression, smoke, sanity",
        "functional": "functional, acceptance, function, unit, system",
    }.items()
}
_NON_FUNCTIONAL = re.compile(
    r"\b(non ?functional|performance|usability|security|reliab|availab|maintainab|scalab|safety|quality|constraint|"
    r"legal|compliance|regulatory|ergonom|portab|nfr|capacity|accessib)"
)
_TECHNICAL = re.compile(r"\b(technical|design|architect|interface|hardware|implementation|component|software unit)")


def meaning(meanings: Mapping[str, str], text: str, name: str = "") -> str | None:
    """Return what a value means here, None when that is not known; `name` is that of its attribute.

    `SpecIF:priorityHigh`, `1 - High` and `High` mean the same.
    """
    plain = normal(text)
    behind = normal(text.rpartition(":")[2]).removeprefix(f"{name} ")
    for word in (plain, behind, re.sub(r"^\d+ ", "", plain)):
        if word in meanings:
            return meanings[word]
    return meanings.get(fold(text))


def type_of_requirement(text: str) -> str | None:
    """Return the type of a requirement that a name speaks of, None when it speaks of none."""
    name = normal(text)
    if _NON_FUNCTIONAL.search(name):
        return "non_functional"
    if _TECHNICAL.search(name):
        return "technical"
    if not re.search(r"\bfunction", name):
        return None
    return "non_functional" if is_negated(name) else "functional"


def type_of_test_case(text: str) -> str | None:
    """Return the type of a test case that a name speaks of, None when it speaks of none."""
    name = normal(text)
    if is_negated(name):
        return None
    return next((kind for kind, words in _TEST_CASE_TYPES.items() if words.search(name)), None)
