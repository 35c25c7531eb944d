"""The steps of test cases, of whichever shape a table has them in."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import orjson

from catalog_service.exchange.tabular.columns import Columns
from catalog_service.exchange.tabular.mapping import StepsRule
from catalog_service.exchange.tabular.step_texts import (
    in_lines,
    numbers_named,
    split_acts,
    split_numbered,
    starts_numbered,
)
from catalog_service.exchange.words import fold
from chassis.web.strict_json import find_duplicate


@dataclass(frozen=True, slots=True)
class Step:
    """A step as its tool has it; `others` is what else that says of it, as JSON, such as which test case it calls.

    `is_placed`: nothing but its place says that what it expects is of this step. `number` is where it stands among the
    others, 0 where nothing says so.
    """

    action: str = ""
    data: str = ""
    expected: str = ""
    others: Mapping[str, Any] = field(default_factory=dict)
    is_placed: bool = False
    number: int = 0

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


def in_order(steps: list[Step]) -> list[Step]:
    """Return steps by their numbers, as they are where one has none."""
    return sorted(steps, key=lambda step: step.number) if all(step.number for step in steps) else steps


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

    number_at = None if rule.number is None else columns.position(rule.number, of="numbers of steps")

    def read_row(cells: Sequence[str]) -> list[Step]:
        action = cells[action_at[0]]
        if len(action_at) > 1:
            action = "\n".join(cells[at].strip() for at in action_at if cells[at].strip())
        number = "" if number_at is None else cells[number_at].strip()
        step = Step(
            action,
            "" if data_at is None else cells[data_at],
            "" if expected_at is None else cells[expected_at],
            number=int(number) if number.isdecimal() and len(number) < 10 else 0,
        )
        return [step] if step else []

    def read_cell(cells: Sequence[str]) -> list[Step]:
        row = read_row(cells)
        if not row:
            return []
        if (written := _steps_of_json(row[0].action)) is not None:
            return written
        actions = split_numbered(in_lines(row[0].action))
        if len(actions) == 1:
            actions = split_acts(actions[0])
        data = split_numbered(in_lines(row[0].data), at_most=len(actions), gaps=True)
        said = in_lines(row[0].expected)
        expected = split_numbered(said, at_most=len(actions), gaps=True)
        if (named := numbers_named(actions, said)) is not None:
            return [
                step
                for at, action in enumerate(actions)
                if (step := Step(action, [*data, *[""] * len(actions)][at], named[at]))
            ]
        if len(data) > len(actions) or len(expected) > len(actions):
            return row
        rest = [""] * len(actions)
        is_placed = 0 < len(expected) < len(actions) and not starts_numbered(said)
        steps = [
            Step(action, [*data, *rest][at], [*expected, *rest][at], is_placed=is_placed)
            for at, action in enumerate(actions)
        ]
        return [step for step in steps if step]

    used = frozenset({*action_at, *(at for at in (data_at, expected_at, number_at) if at is not None)})
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
