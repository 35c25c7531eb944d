"""What members of somebody's objects say that no field takes: relations and links are counted, others are named."""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from catalog_service.exchange.layout import LISTS
from catalog_service.exchange.records import Item, Notice
from catalog_service.exchange.related_names import names_others, names_parents
from catalog_service.exchange.tabular.columns import ids_in
from catalog_service.exchange.tabular.known_headers import known_headers
from catalog_service.exchange.tabular.proposed_kind import are_ids
from catalog_service.exchange.tabular.related import count_named
from catalog_service.exchange.words import fold
from chassis.core.wording import counted, listed, shown

_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_RELATIONS = ("parents", "others")
_MOST_NAMES = 20
_OF_OBJECT = frozenset({"map_key"})
_OF_LIST = frozenset({"start_map", "start_array", "string", "number"})
"""With what ijson begins an entry of a member."""
_LINKED = {"requirement": "test_cases", "test_case": "requirements"}
"""What members are called that name what items of a kind are linked with."""


class LeftMembers:
    """Counts and names the members of objects that no field takes."""

    def __init__(self) -> None:
        self._kept: dict[str, None] = {}
        self._dropped: dict[str, None] = {}
        self._linking: dict[str, None] = {}
        self._links = 0

    def keep(self, item: Item, members: Mapping[str, Any]) -> None:
        """Note what is kept with an item, and how many relations it has by it."""
        for name, value in members.items():
            if _is_blank(value):
                continue
            _add(self._kept, name)
            meaning = _meaning(name)
            if not meaning:
                continue
            count = _count(value, count_named if meaning == "parents" else _count_ids)
            if meaning == _LINKED[item.kind] and count:
                _add(self._linking, name)
                self._links += count
            else:
                item.relations += count

    def drop(self, members: Mapping[str, Any]) -> None:
        """Note what a link has no place for."""
        for name, value in members.items():
            if not _is_blank(value):
                _add(self._dropped, name)

    def notices(self) -> Iterator[Notice]:
        """Yield what there is to say of all objects."""
        if self._kept:
            message = f"No field takes {_listed(self._kept)}: kept with each item as further data."
            yield Notice("to_custom_metadata", message, len(self._kept))
        if self._dropped:
            message = f"No field takes {_listed(self._dropped)}, and a link has no place for more: not read."
            yield Notice("columns_dropped", message, len(self._dropped))
        if self._links:
            message = (
                f"{counted(self._links, 'link')} named in {_listed(self._linking)} of items: kept as further data, no"
                " links are made of it. Give each link as an object of its own, with requirement and test_case."
            )
            yield Notice("links_not_made", message, self._links, unclean=True)


class LeftLists:
    """Counts what is in the lists of a document in which no records are looked for."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._name = ""
        self.entry = ""
        """The path of the entries of the member that has begun."""
        self._events: frozenset[str] = frozenset()
        self._hold_items = False

    def begin(self, name: str, *, is_list: bool) -> None:
        """Note that a member begins which is a list, or an object."""
        self._name, self.entry = name, f"{name}.item" if is_list else name
        self._events = _OF_LIST if is_list else _OF_OBJECT if _meaning(name) in _RELATIONS else frozenset()

    def take(self, event: str) -> None:
        """Take an event of the document at the path `entry`."""
        if event in self._events:
            if self._name in self._counts or len(self._counts) < _MOST_NAMES:
                self._counts[self._name] = self._counts.get(self._name, 0) + 1
            self._hold_items |= event == "start_map" or _meaning(self._name) in _RELATIONS

    def notices(self) -> Iterator[Notice]:
        """Yield what there is to say of all lists."""
        if self._counts:
            said = listed([f"{shown(name)} ({count:,})" for name, count in self._counts.items()], "and")
            message = (
                f"What is in {said} was not read: records are looked for in {listed(LISTS, 'and')}, relations are not"
                " made of lists."
            )
            yield Notice("list_not_read", message, sum(self._counts.values()), unclean=self._hold_items)


@lru_cache(4096)
def _meaning(name: str) -> str:
    """Return what a member names by what it is called: parents, others, what links lead to; or nothing."""
    look = _WORDS.sub(" ", name)
    if name.startswith("_"):  # such as _links, which are addresses
        return ""
    if names_parents(look):
        return "parents"
    if names_others(look):
        return "others"
    fields = known_headers().get(fold(look), {})
    return next((end for end in _LINKED.values() if end in fields), "")


def _count(value: Any, count_text: Callable[[str], int]) -> int:
    """Return how many items a value names: a list those in it, an object one."""
    if isinstance(value, list):
        return sum(_count(member, count_text) for member in value)
    if isinstance(value, str):
        return count_text(value) if value.strip() else 0
    return int(bool(value) and value is not True)


def _count_ids(text: str) -> int:
    return len(ids_in(text)) if are_ids([text]) else 0


def _is_blank(value: Any) -> bool:
    return value is None or value is False or value in ("", [], {}) or (isinstance(value, str) and value.isspace())


def _add(names: dict[str, None], name: str) -> None:
    if len(names) <= _MOST_NAMES:
        names.setdefault(name)


def _listed(names: Mapping[str, None]) -> str:
    some = list(map(shown, names))
    return listed([*some[:_MOST_NAMES], "more"] if len(some) > _MOST_NAMES else some, "and")
