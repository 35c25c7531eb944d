"""Every acknowledged write can be read over the API, once, as it was last acknowledged."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from acceptance.client import Json, Traceline
from acceptance.faults.history import History, Thing

_LISTS: dict[str, tuple[str, dict[str, Any]]] = {
    "requirement": ("/requirements", {"limit": 500}),
    "test_case": ("/test-cases", {"limit": 500}),
    "link": ("/links", {"limit": 500}),
    "suggestion": ("/suggestions", {"limit": 500, "status": "pending,accepted,rejected,expired"}),
    "user": ("/users", {"limit": 100}),
}


def violations(admin: Traceline, history: History) -> Iterator[str]:
    """What is stored otherwise than the history says that it must be."""
    for kind, (path, parameters) in _LISTS.items():
        things = history.of_kind(kind)
        if things:
            stored = {item["id"]: item for item in admin.items(path, **parameters)}
            yield from _compare(things, list(stored.values()))


def _compare(things: list[Thing], stored: list[Json]) -> Iterator[str]:
    by_mark: dict[frozenset[tuple[str, Any]], list[Json]] = defaultdict(list)
    by_id = {item["id"]: item for item in stored}
    marks = {tuple(sorted(thing.mark)) for thing in things}
    for item in stored:
        for names in marks:
            by_mark[frozenset((name, item[name]) for name in names)].append(item)
    for thing in things:
        alike = by_mark[frozenset(thing.mark.items())]
        if thing.kind != "suggestion" and len(alike) > 1:
            yield f"{thing} is stored {len(alike)} times: {[item['id'] for item in alike]}"
        found = by_id.get(thing.id) if thing.id is not None else next(iter(alike), None)
        if not any(_is(found, content) for content in thing.possible):
            yield f"{thing} is stored as {found}, and must be {' or '.join(map(str, thing.possible))}"


def _is(found: Json | None, content: Json | None) -> bool:
    """Whether what is stored says what it must; it may have more fields than were asked for."""
    if found is None or content is None:
        return found is content
    return all(name in found and found[name] == value for name, value in content.items())
