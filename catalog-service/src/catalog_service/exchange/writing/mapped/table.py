"""The table of another tool: its columns, words and layout of steps, as a mapping or preset of it says."""

import html
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Literal

import orjson

from catalog_service.exchange.tabular.cases import TEXTS
from catalog_service.exchange.tabular.mapping import FIELDS, OWN
from catalog_service.items.kinds import REQUIREMENT, TEST_CASE, ItemKind
from chassis.core.problems import Invalid

LINKED = "linked"
"""What rows bring of the items that theirs is linked with: their keys, as a list."""
_LISTS = ("tags", "section")
_EXPECTED = re.compile(r"(?:\A|\n)Expected: ")
_MADE_BY_US = frozenset({*OWN, "created_by", "source_system", "source_url"})
_BETWEEN_KEYS = ", "
_ROLES = {"test_case": "is verified by", "requirement": "verifies"}
"""What a row says of those that it is linked with, by what they are."""
Convert = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a test case, as two cells."""

    action: str
    expected: str


@dataclass(slots=True)
class _Header:
    """The columns by their place; `reserved` are the places of those that a mapping names by their position."""

    reserved: frozenset[int]
    names: dict[int, str] = field(default_factory=dict)

    def place(self, reference: str | int, label: str) -> int:
        """Return the place of a column; one that has no name is called `label`."""
        if isinstance(reference, int):
            self.names.setdefault(reference - 1, label)
            return reference - 1
        for at, name in self.names.items():
            if name == reference:
                return at
        at = next(at for at in count() if at not in self.names and at not in self.reserved)
        self.names[at] = reference
        return at

    def row(self) -> list[str]:
        """Return the header, blank where no column is."""
        return [self.names.get(at, "") for at in range(max(self.names, default=-1) + 1)]


@dataclass(frozen=True, slots=True)
class _Steps:
    """Where the steps stand; `serial` is the column that numbers test cases, `same` that which each of their rows has.

    With `below` the first step stands in the row below its test case.
    """

    style: Literal["rows", "cell"]
    action: int
    expected: int | None
    number: int | None
    serial: int | None
    same: int | None
    below: bool


@dataclass(frozen=True, slots=True)
class Lost:
    """What has no place in a table: a field; with `kept`, only values other than these of it."""

    field: str
    kept: tuple[str, ...] = ()


class MappedTable:
    """A table of items of one kind: `header`, the `fields` that each row brings, and what is `lost`."""

    def __init__(self, kind: ItemKind, mapping: Mapping[str, Any], constants: Mapping[str, str]) -> None:
        """`mapping` is one of version 1, or of a preset, of which the first of several columns is written.

        `constants` are columns that say the same in each row, and what they say.
        """
        self.kind = kind
        self._is_html = mapping.get("markup") == "html"
        self._prefix = mapping.get("external_id_prefix") or ""
        rules = mapping.get("fields") or {}
        self._header = _Header(frozenset(_positions(mapping)))
        self._cells: list[tuple[int, int, Convert]] = []
        self._fixed: list[tuple[int, str]] = []
        names: list[str] = []
        self.lost: list[Lost] = []
        for name, rule in rules.items():
            if name == "steps" or name in _MADE_BY_US:
                continue
            if "constant" in rule:
                self.lost.append(Lost(name, (rule["constant"],)))
            elif (column := _column(rule)) is not None:
                self._cells.append((self._header.place(column, _label(name)), len(names), self._converter(name, rule)))
                names.append(name)
                self._note_lost_words(name, rule)
            else:
                self.lost.append(Lost(name))
        if "external_id" not in names:
            raise unwritable("it has no column for external_id, by which items are known")
        other = TEST_CASE if kind is REQUIREMENT else REQUIREMENT
        links = (mapping.get("links") or {}).get(f"{other.name}s")
        if links is not None and (column := _column(links)) is not None:
            self._cells.append((self._header.place(column, other.label), len(names), _keys(links, _ROLES[other.name])))
            names.append(LINKED)
        else:
            self.lost.append(Lost(LINKED))
        self._steps = self._place_steps(rules.get("steps"), dict(zip(names, self._cells, strict=True)))
        if self._steps is not None:
            names.append("steps")
        for column, text in constants.items():
            self._fixed.append((self._header.place(column, ""), text))
        known = {*names, *(lost.field for lost in self.lost), *_MADE_BY_US}
        self.lost += [Lost(name) for name in FIELDS[f"{kind.name}s"] if name not in known]
        self.fields = tuple(names)
        self.header = self._header.row()
        self._items = 0

    def rows_of(self, row: Sequence[str | None]) -> Iterator[list[str]]:
        """Yield the rows of an item, whose `fields` are texts, those of lists and steps JSON."""
        self._items += 1
        cells = [""] * len(self.header)
        for at, place, convert in self._cells:
            value = row[place]
            cells[at] = convert(value) if value else ""
        for at, text in self._fixed:
            cells[at] = text
        if self._steps is None:
            yield cells
            return
        sent = row[-1]
        yield from self._lay_out_steps(cells, _steps_of(sent) if sent else [], self._steps)

    def _lay_out_steps(self, cells: list[str], steps: list[Step], rule: _Steps) -> Iterator[list[str]]:
        if rule.serial is not None:
            cells[rule.serial] = str(self._items)
        if rule.style == "cell":
            cells[rule.action] = self._text(_numbered([step.action for step in steps]))
            if rule.expected is not None:
                cells[rule.expected] = self._text(_numbered([step.expected for step in steps]))
            yield cells
            return
        if rule.below or not steps:
            yield cells
        for number, step in enumerate(steps, 1):
            if number > 1 or rule.below:
                cells = self._below(cells, rule)
            cells[rule.action] = self._text(_whole(step) if rule.expected is None else step.action)
            if rule.expected is not None:
                cells[rule.expected] = self._text(step.expected)
            if rule.number is not None:
                cells[rule.number] = str(number)
            yield cells

    def _below(self, cells: list[str], rule: _Steps) -> list[str]:
        """Return a further row of a test case, which says nothing but what tells that it is one."""
        further = [""] * len(cells)
        for at in (rule.serial, rule.same):
            if at is not None:
                further[at] = cells[at]
        return further

    def _converter(self, name: str, rule: Mapping[str, Any]) -> Convert:
        if name in _LISTS:
            separator = rule.get("split") or "\n"
            return lambda text: _joined(orjson.loads(text), separator)
        if rule.get("values"):
            words = _words(rule["values"])
            return lambda text: words.get(text, text)
        if name == "external_id" and self._prefix:
            return lambda text: text.removeprefix(self._prefix)
        return self._text if name in TEXTS else str

    def _text(self, text: str) -> str:
        if self._is_html:
            return html.escape(text, quote=False).replace("\r\n", "\n").replace("\n", "<br>")
        return text

    def _note_lost_words(self, name: str, rule: Mapping[str, Any]) -> None:
        """Note the values of a field that a table has no word for, where what it does not know becomes another."""
        if values := rule.get("values"):
            words = _words(values)
            self.lost.append(Lost(name, (*words, values["*"]) if "*" in values else tuple(words)))

    def _place_steps(self, rule: Any, cells: Mapping[str, tuple[int, int, Convert]]) -> _Steps | None:
        shapes = rule if isinstance(rule, list) else [] if rule is None else [rule]
        shape = next((shape for shape in shapes if shape["style"] != "columns"), None)
        if shape is None:
            return None
        action, expected = _first(shape["action"]), _first(shape.get("expected"))
        same = _first(shape.get("continues_when_same"))
        number = _first(shape.get("number"))
        assert action is not None
        serial = None
        same_at = None if same is None else self._header.place(same, "Number")
        if same_at is not None and all(at != same_at for at, *_ in cells.values()):
            serial, same_at = same_at, None
        return _Steps(
            shape["style"],
            self._header.place(action, "Step"),
            None if expected is None else self._header.place(expected, "Expected result"),
            None if number is None else self._header.place(number, "Step number"),
            serial,
            same_at,
            shape.get("below", False),
        )


def _positions(mapping: Any) -> Iterator[int]:
    """Yield the places of the columns that a mapping names by their position from 1."""
    if isinstance(mapping, dict):
        for key, value in mapping.items():
            if key in {"column", "columns", "action", "expected", "number"} or key.startswith("continues_"):
                yield from (one - 1 for one in (value if isinstance(value, list) else [value]) if isinstance(one, int))
            yield from _positions(value)
    elif isinstance(mapping, list):
        for value in mapping:
            yield from _positions(value)


def _column(rule: Mapping[str, Any]) -> str | int | None:
    """Return the column that a field is written to."""
    for name in ("column", "columns", "columns_named"):
        if rule.get(name) is not None:
            return _first(rule[name])
    return None


def _first(names: Any) -> str | int | None:
    if isinstance(names, dict):
        names = names["all"]
    found: str | int | None = names[0] if isinstance(names, list) else names
    return found.rstrip("*") if isinstance(found, str) else found


def _label(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _words(values: Mapping[str, str]) -> dict[str, str]:
    """Return the first word that means each value."""
    words: dict[str, str] = {}
    for word, value in values.items():
        if word != "*":
            words.setdefault(value, word)
    return words


def _keys(rule: Mapping[str, Any], role: str) -> Convert:
    """Return how the keys of what an item is linked with are written: with their role where the tool tells it."""
    prefix, separator = rule.get("prefix") or "", rule.get("split") or _BETWEEN_KEYS
    before = f"{role}: " if rule.get("by_role") else ""
    return lambda text: separator.join(before + key.removeprefix(prefix) for key in orjson.loads(text))


def _joined(values: list[str], separator: str) -> str:
    """Return values with a separator between them; one that has it has `_` there."""
    return separator.join(value.replace(separator, "_") for value in values)


def _steps_of(text: str) -> list[Step]:
    steps = orjson.loads(text)
    return [_split(steps[number]) for number in sorted(steps, key=int)]


def _split(text: str) -> Step:
    """Return a step with what it expects apart, as readers put them together."""
    found = _EXPECTED.search(text)
    return Step(text, "") if found is None else Step(text[: found.start()], text[found.end() :])


def _whole(step: Step) -> str:
    return "\n".join(filter(None, (step.action, step.expected and f"Expected: {step.expected}")))


def _numbered(texts: Sequence[str]) -> str:
    return "\n".join(f"{number}. {text}" for number, text in enumerate(texts, 1)) if any(texts) else ""


def unwritable(reason: str) -> Invalid:
    """Return that a mapping cannot be read backwards, and why."""
    return Invalid.field(
        "/query/mapping",
        f"No table can be written by this mapping: {reason}. Use another one, or export without mapping.",
        "mapping_not_writable",
    )
