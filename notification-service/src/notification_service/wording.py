"""How sentences name people and things."""

from collections.abc import Iterable
from typing import Any

from chassis.core.wording import counted
from chassis.messaging.events import Actor
from contracts.catalog import ImportApplied, LinkState
from contracts.suggestion import ReopenedSuggestion, ReviewedSuggestion

Pair = LinkState | ReviewedSuggestion | ReopenedSuggestion
"""What has the names of a requirement and a test case."""


def who(actor: Actor) -> str:
    """Return the actor as the subject of a sentence."""
    return "The system" if actor.id is None and actor.email == "system" else actor.email


def named(kind: str, title: str, external_id: str | None = None) -> str:
    """Return an item by kind, external id and title: `the test case TC-7 “Locks after five failures”`."""
    return f"the {kind.replace('_', ' ')} {titled(title, external_id)}"


def titled(title: str, external_id: str | None) -> str:
    """Return an item by external id and title: `TC-7 “Locks after five failures”`."""
    return f"“{title}”" if external_id is None else f"{external_id} “{title}”"


def pair(link: Pair) -> str:
    """Return what a link or a suggestion joins: `REQ-3 “Lock the account” and TC-7 “Locks after five failures”`."""
    requirement = titled(link.requirement_title, link.requirement_external_id)
    return f"{requirement} and {titled(link.test_case_title, link.test_case_external_id)}"


def joined(link: Pair) -> str:
    """Return the same as a title: `REQ-3 Lock the account ↔ TC-7 Locks after five failures`."""
    requirement = " ".join(filter(None, (link.requirement_external_id, link.requirement_title)))
    return f"{requirement} ↔ {' '.join(filter(None, (link.test_case_external_id, link.test_case_title)))}"


def listed(names: Iterable[str]) -> str:
    """Return field names as people list them: `title, module and tags`."""
    words = [name.replace("_", " ") for name in names]
    if len(words) < 2:
        return words[0] if words else "nothing"
    return f"{', '.join(words[:-1])} and {words[-1]}"


def run_outcome(created: int | None, updated: int, withdrawn: int) -> str:
    """Return what a run has done: `found 3 new suggestions, gave 40 pending ones a new score and withdrew 9`.

    `created` is None of one that has looked for nothing new.
    """
    parts = []
    if created is not None:
        parts.append(f"found {counted(created, 'new suggestion') if created else 'nothing new'}")
    if updated:
        parts.append(f"gave {updated} pending {'one' if updated == 1 else 'ones'} a new score")
    if withdrawn:
        parts.append(f"withdrew {withdrawn} below the threshold")
    return listed(parts)


def import_outcome(applied: ImportApplied) -> str:
    """Return what an import has done: `created 120 requirements and 3 test cases and changed 1 link`."""
    parts = []
    for action, verb in (("create", "created"), ("update", "changed"), ("delete", "deleted")):
        counts = [
            counted(number, kind.replace("_", " "))
            for kind in ("requirement", "test_case", "link", "relation")
            if (number := applied.count(kind, action))
        ]
        if counts:
            parts.append(f"{verb} {listed(counts)}")
    outcome = listed(parts) if parts else "changed nothing"
    if applied.not_applied:
        outcome += f", and ended midway: {counted(applied.not_applied, 'change')} not made"
    return outcome


def given(state: Any, hidden: frozenset[str]) -> dict[str, Any]:
    """Return the fields of a model that have a value, without the `hidden` ones."""
    return {name: value for name, value in vars(state).items() if value is not None and name not in hidden}
