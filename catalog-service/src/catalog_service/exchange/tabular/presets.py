"""Mappings of the tables that known tools export, in `presets/`, a file a tool; a table is known by its headers.

Where a tool has called a column differently in its versions, a preset lists the names; of steps it lists the shapes.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Any

import orjson

from catalog_service.exchange.records import Unreadable
from catalog_service.exchange.tabular.columns import Columns
from catalog_service.exchange.tabular.own import NAME as OWN
from catalog_service.exchange.tabular.values import REQUIRED
from catalog_service.exchange.words import fold
from chassis.core.wording import listed, shown

Names = str | list[str]
_MARKS = frozenset({"x", "y", "yes", "1", "\u2713", "\u2714", "\u25cf", "\u2022"})


@dataclass(frozen=True, slots=True)
class Preset:
    """A preset: its name, what it is of, the headers that it is known by (one group of them is enough).

    `constants` are columns of the tool in which an export says the same for each item.
    """

    name: str
    label: str
    known_by: list[list[str]]
    mapping: dict[str, Any]
    constants: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Sample:
    """The columns of a table and its first rows, each as wide as the header."""

    columns: Columns
    rows: list[list[str]]

    def values(self, position: int) -> list[str]:
        """Return what a column says in the first rows, without blanks."""
        return [cells[position] for cells in self.rows if cells[position].strip()]

    def values_beside_others(self, position: int) -> list[str]:
        """Return what a column says in those of the first rows that say more: a row of one cell may be a heading."""
        rows = (cells for cells in self.rows if sum(1 for cell in cells if cell.strip()) > 1)
        return [cells[position] for cells in rows if cells[position].strip()]

    def blanks(self, position: int) -> int:
        """Return in how many of the first rows a column says nothing."""
        return len(self.rows) - len(self.values(position))

    def says_once(self, position: int) -> bool:
        """Check whether a column says a value once for all rows below it: first a value, then blanks, none twice."""
        values = [cells[position].strip() for cells in self.rows]
        said = list(filter(None, values))
        return bool(values and values[0]) and "" in values and len(set(said)) == len(said)

    def has_blocks(self, position: int) -> bool:
        """Check whether a column says its values once for some rows each, and does so more than once."""
        values = [cells[position].strip() for cells in self.rows]
        begins = sum(bool(above) and not below for above, below in pairwise(values))
        return begins > 1 and self.says_once(position)

    def is_of_matrix(self, position: int) -> bool:
        """Check whether a column is called as items are, and holds nothing but marks."""
        values = self.values(position)
        is_item = bool(values) and any(map(str.isdigit, self.columns.header[position]))
        return is_item and all(value.strip().casefold() in _MARKS for value in values)

    def reference(self, position: int) -> str | int:
        """Return what a mapping calls a column: its name, or its position where another one has the name."""
        name = self.columns.header[position]
        return name if name and self.columns.find(name) == position else position + 1


@cache
def load_presets() -> tuple[Preset, ...]:
    """Return the presets of this package."""
    documents = sorted(files(__package__).joinpath("presets").iterdir(), key=lambda file: file.name)
    return tuple(Preset(file.name.removesuffix(".json"), **orjson.loads(file.read_bytes())) for file in documents)


def get_preset(name: str) -> Preset:
    """Return the preset of a name; raise Unreadable where there is none."""
    for preset in load_presets():
        if preset.name == name:
            return preset
    names = listed(preset_names(), "and")
    raise Unreadable(f"There is no preset {shown(name)}; there are {names}.", code="preset_not_found")


def preset_names() -> list[str]:
    """Return the names of the presets that can be asked for."""
    return sorted([OWN, *(preset.name for preset in load_presets())])


def find_preset(columns: Columns) -> Preset | None:
    """Return the preset that knows these columns, if one does: of several, the one that knows most of them."""
    best, most = None, 0
    for preset in load_presets():
        known = max((len(group) for group in preset.known_by if all(_find(columns, name) for name in group)), default=0)
        if known:
            named = {at for name in _names(preset.mapping) for at in _find(columns, name)}
            score = 2 * known + len(named)
            if score > most:
                best, most = preset, score
    return best


def resolve(preset: Preset, sample: Sample) -> dict[str, Any]:
    """Return the mapping of a preset for the columns of a table, without what the table does not have."""
    mapping = {**preset.mapping, "name": preset.name}
    fields = {}
    for name, rule in preset.mapping["fields"].items():
        found = _steps(rule, sample) if isinstance(rule, list) else _field(rule, sample)
        if found is not None and ("constant" not in found or name in REQUIRED):
            fields[name] = found
    for name in ("title", "description"):
        if name in fields and fields[name].get("default_from") not in {None, *fields}:
            del fields[name]["default_from"]
    mapping["fields"] = fields
    links = {end: _field(rule, sample) for end, rule in preset.mapping.get("links", {}).items() if end != "link_type"}
    if links := {end: rule for end, rule in links.items() if rule is not None}:
        mapping["links"] = {**links, "link_type": preset.mapping["links"].get("link_type", "covers")}
    else:
        mapping.pop("links", None)
    mapping["ignore"] = [
        sample.reference(at) for name in preset.mapping.get("ignore", ()) for at in _find(sample.columns, name)
    ]
    leave_out = preset.mapping.get("leave_out")
    if leave_out and (column := _first(leave_out["column"], sample)) is not None:
        mapping["leave_out"] = {**leave_out, "column": column}
    else:
        mapping.pop("leave_out", None)
    if (headings := _headings(mapping.pop("headings", None), sample)) is not None:
        mapping["headings"] = headings
    return mapping


def _headings(rule: dict[str, Any] | None, sample: Sample) -> dict[str, Any] | None:
    """Return which rows are headings, None where the columns that tell them are not there."""
    if rule is None or (column := _first(rule["column"], sample)) is None:
        return None
    texts = [found for names in rule["texts"] if (found := _first(names, sample)) is not None]
    level = _first(rule["level"], sample)
    if not texts:
        return None
    return {"column": column, "texts": texts, **({} if level is None else {"level": level})}


def _field(rule: dict[str, Any], sample: Sample) -> dict[str, Any] | None:
    if "constant" in rule:
        return rule
    if "columns" in rule:
        places = [at for name in rule["columns"] for at in _find(sample.columns, name)[:1]]
        if len(places) > 1:
            return {**rule, "columns": [sample.reference(at) for at in places]}
        rule = {key: value for key, value in rule.items() if key != "columns"}
        return {**rule, "column": sample.reference(places[0])} if places else _without(rule)
    if "columns_named" in rule:
        names = [name for name in _list(rule["columns_named"]) if _find(sample.columns, name)]
        return {**rule, "columns_named": names[0]} if names else None
    column = _first(rule["column"], sample)
    rule = {key: value for key, value in rule.items() if key != "column" and value is not False}
    return {"column": column, **rule} if column is not None else _without(rule)


def _without(rule: dict[str, Any]) -> dict[str, Any] | None:
    """Return what a rule says where its column is missing: another field, or the value for all others."""
    if "default_from" in rule:
        return {"default_from": rule["default_from"]}
    other = rule.get("values", {}).get("*")
    return {"constant": other} if other is not None else None


def _steps(shapes: list[dict[str, Any]], sample: Sample) -> dict[str, Any] | None:
    """Return the first shape of steps that the rows have, else the last of those whose columns are there.

    Otherwise they are where another shape has them in one cell: some tools let each test case have its own shape.
    """
    found = [rule for rule in (_shape(shape, sample) for shape in shapes) if rule is not None]
    if not found:
        return None
    named = [one for one in found if any(sample.values(at) for at in _places(one[0]["action"], sample))]
    rule = next((rule for rule, is_so in named if is_so), (named or found)[-1][0])
    others = [other for other, _ in found if other["style"] == "cell" and other["action"] != rule["action"]]
    return {**rule, "otherwise": others[0]} if others else rule


def _places(action: Any, sample: Sample) -> list[int]:
    return [sample.columns.position(column, of="steps") for column in _list(action)]


def _shape(shape: dict[str, Any], sample: Sample) -> tuple[dict[str, Any], bool] | None:
    """Return the rule of a shape, and whether the rows are so; None where its columns are not there."""
    action = shape["action"]
    found: Any
    if isinstance(action, dict):
        found = [sample.reference(at) for name in action["all"] for at in _find(sample.columns, name)[:1]] or None
    else:
        found = _first(action, sample)
    if found is None:
        return None
    rule = {"style": shape["style"], "action": found}
    for part in ("data", "expected"):
        if part in shape and (column := _first(shape[part], sample)) is not None:
            rule[part] = column
    how = next((key for key in ("continues_when_blank", "continues_when_same") if key in shape), None)
    if how is None:
        return rule, True
    column = _first(shape[how], sample)
    if column is None:
        return None
    rule[how] = column
    values = sample.values(sample.columns.position(column, of="steps"))
    return rule, len(values) < len(sample.rows) if how == "continues_when_blank" else len(set(values)) < len(values)


def _first(names: Names, sample: Sample) -> str | int | None:
    """Return the first of several columns that is there, one that says something if possible."""
    places = [at for name in _list(names) for at in _find(sample.columns, name)[:1]]
    filled = [at for at in places if sample.values(at)]
    return sample.reference((filled or places)[0]) if places else None


def _find(columns: Columns, name: str) -> list[int]:
    """Return the positions of the columns of a name, which may end in `*`."""
    if name.endswith("*"):
        start = fold(name[:-1])
        return [at for at, header in enumerate(columns.header) if fold(header).startswith(start)]
    return columns.all_named(name)


def _list(names: Names) -> Sequence[str]:
    return names if isinstance(names, list) else [names]


def _names(mapping: Any) -> Iterator[str]:
    """Yield all names of columns in a mapping."""
    if isinstance(mapping, dict):
        for key, value in mapping.items():
            if key in {"column", "columns", "columns_named", "action", "data", "expected", "all"} or key.startswith(
                "cont"
            ):
                yield from _list(value) if isinstance(value, str | list) else _names(value)
            elif key not in {"values", "known_by"}:
                yield from _names(value)
    elif isinstance(mapping, list):
        for value in mapping:
            yield from _names(value)
