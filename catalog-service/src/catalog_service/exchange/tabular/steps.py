"""The steps of test cases, of whichever shape a table has them in."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import orjson

from catalog_service.exchange.tabular.columns import Columns
from catalog_service.exchange.tabular.mapping import StepsRule
from catalog_service.exchange.words import fold
from chassis.web.strict_json import find_duplicate

_NUMBERED = re.compile(r"\s*\(?(\d{1,4})\s*([.)、．:：]|\s-)\s*")
_BULLET = re.compile(r"\s*[-*•–]\s+")
_BREAK = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class Step:
    """A step as its tool has it; `others` is what else that says of it, as JSON, such as which test case it calls."""

    action: str = ""
    data: str = ""
    expected: str = ""
    others: Mapping[str, Any] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.text)

    @property
    def text(self) -> str:
        """The step as one text: the action, and what is expected on a line of its own."""
        named = (f"{name}: {value}" for name, value in self.others.items() if isinstance(value, str))
        action = self.action.strip() or self.data.strip() or ", ".join(named)
        expected = f"Expected: {self.expected.strip()}" if self.expected.strip() else ""
        return "\n".join(filter(None, (action, expected)))

    @property
    def parts(self) -> dict[str, Any]:
        """The step as it came, for custom_metadata."""
        return {
            name: part
            for name, part in (("action", self.action), ("data", self.data), ("expected", self.expected))
            if part.strip()
        } | dict(self.others)


def texts_of(steps: Sequence[Step]) -> dict[str, str]:
    """Return the texts of steps by number, as the API takes them."""
    return {str(number): step.text for number, step in enumerate(steps, 1)}


@dataclass(frozen=True, slots=True)
class StepReader:
    """Reads the steps that one row tells; `positions` are those of the columns that it takes.

    `otherwise` is for a test case that it has found none of.
    """

    read: Callable[[Sequence[str]], list[Step]]
    positions: frozenset[int]
    otherwise: "StepReader | None" = None


def make_reader(rule: StepsRule, columns: Columns) -> StepReader:
    """Return the reader of a rule; raise Unreadable where a column is missing."""
    reader = _of_columns(rule, columns) if rule.style == "columns" else _of_cells(rule, columns)
    return reader if rule.otherwise is None else replace(reader, otherwise=make_reader(rule.otherwise, columns))


def _of_cells(rule: StepsRule, columns: Columns) -> StepReader:
    actions = rule.action if isinstance(rule.action, list) else [rule.action]
    action_at = [columns.position(column, of="steps") for column in actions]
    data_at = None if rule.data is None else columns.position(rule.data, of="data of steps")
    expected_at = None if rule.expected is None else columns.position(rule.expected, of="what steps expect")

    def read_row(cells: Sequence[str]) -> list[Step]:
        action = cells[action_at[0]]
        if len(action_at) > 1:
            action = "\n".join(cells[at].strip() for at in action_at if cells[at].strip())
        step = Step(
            action, "" if data_at is None else cells[data_at], "" if expected_at is None else cells[expected_at]
        )
        return [step] if step else []

    def read_cell(cells: Sequence[str]) -> list[Step]:
        row = read_row(cells)
        if not row:
            return []
        if (written := _steps_of_json(row[0].action)) is not None:
            return written
        actions = split_numbered(row[0].action)
        data = split_numbered(row[0].data, at_most=len(actions), gaps=True)
        expected = split_numbered(row[0].expected, at_most=len(actions), gaps=True)
        if len(data) > len(actions) or len(expected) > len(actions):
            return row
        count = range(len(actions))
        rest = [""] * len(actions)
        steps = [Step(actions[at], [*data, *rest][at], [*expected, *rest][at]) for at in count]
        return [step for step in steps if step]

    used = frozenset({*action_at, *(at for at in (data_at, expected_at) if at is not None)})
    return StepReader(read_row if rule.style == "rows" else read_cell, used)


def _steps_of_json(text: str) -> list[Step] | None:
    """Return the steps of a cell that holds them as a list of JSON objects, as Xray writes them into issues of Jira."""
    if not text.lstrip().startswith("[{"):
        return None
    try:
        entries = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    if find_duplicate(text) is not None:
        return None
    steps = []
    for entry in entries:
        fields = entry.get("fields", entry) if isinstance(entry, dict) else None
        if not isinstance(fields, dict):
            return None
        texts = {fold(name): value for name, value in fields.items() if isinstance(value, str)}
        expected = next((texts[name] for name in ("expected result", "expected", "result") if name in texts), "")
        steps.append(Step(texts.get("action", texts.get("step", "")), texts.get("data", ""), expected))
    return steps if all(steps) else None


def numbered(columns: Columns, name: str | int | list[str | int] | None) -> dict[int, int]:
    """Return the positions, by number, of the columns of a name that has `{n}` for it; none of any other name."""
    if not isinstance(name, str) or "{n}" not in name:
        return {}
    found = {number: columns.find(name.replace("{n}", str(number))) for number in range(501)}
    return {number: at for number, at in found.items() if at is not None}


def _of_columns(rule: StepsRule, columns: Columns) -> StepReader:
    action_at, data_at, expected_at = (numbered(columns, name) for name in (rule.action, rule.data, rule.expected))
    if not action_at:
        raise columns.missing(str(rule.action), of="steps")
    numbers = sorted({*action_at, *data_at, *expected_at})

    def part(cells: Sequence[str], places: dict[int, int], number: int) -> str:
        return cells[places[number]] if number in places else ""

    def read(cells: Sequence[str]) -> list[Step]:
        steps = [
            Step(part(cells, action_at, number), part(cells, data_at, number), part(cells, expected_at, number))
            for number in numbers
        ]
        return [step for step in steps if step]

    return StepReader(read, frozenset({*action_at.values(), *data_at.values(), *expected_at.values()}))


def split_numbered(text: str, at_most: int = 500, *, gaps: bool = False) -> list[str]:
    """Return the parts of a text by its numbered lines, or by its bullets; the text itself where it has neither.

    A line belongs to the number above it unless it has the next one: numbers within a part begin anew. With `gaps` it
    may be a later one written alike: the parts between are empty, as of steps of which nothing is expected.
    """
    if not text.strip():
        return []
    lines = _BREAK.split(text)
    parts: list[list[str]] = []
    before: list[str] = []
    mark = ""
    for line in lines:
        match = _NUMBERED.match(line)
        number = int(match[1]) if match else 0
        is_later = gaps and match is not None and number > len(parts) and mark in ("", match[2])
        if match and (number == len(parts) + 1 or is_later) and number <= at_most:
            parts.extend([] for _ in range(len(parts) + 1, number))
            parts.append([line[match.end() :]])
            mark = mark or match[2]
        elif parts:
            parts[-1].append(line)
        else:
            before.append(line)
    if parts and not any(line.strip() for line in before):
        return [_unquoted("\n".join(part).strip()) for part in parts]
    filled = [line for line in lines if line.strip()]
    if at_most > 1 and len(filled) > 1 and all(_BULLET.match(line) for line in filled):
        return [_BULLET.sub("", line, count=1).strip() for line in filled][:at_most]
    return [text.strip()]


def _unquoted(text: str) -> str:
    """Return the text without the quotes that some tools put around each step."""
    if len(text) >= 2 and text[0] == text[-1] == '"':
        return text[1:-1].replace('""', '"')
    return text
