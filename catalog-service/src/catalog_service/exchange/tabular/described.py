"""The columns of a table as an inspection shows them."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from catalog_service.exchange.tabular.columns import Columns
from catalog_service.exchange.tabular.formulas import MARK
from catalog_service.exchange.tabular.kinds import role_of_type
from catalog_service.exchange.tabular.own import NAME as OWN
from catalog_service.exchange.tabular.presets import get_preset
from catalog_service.exchange.tabular.record_mapping import TypesRule
from catalog_service.exchange.tabular.start import Chosen, Start
from catalog_service.exchange.tabular.steps import numbered
from catalog_service.exchange.words import fold
from catalog_service.fields.texts import propose as propose_field
from chassis.core.wording import shown

_SHOWN_SAMPLES = 5
_SHOWN_VALUES = 30
_LONGEST_VALUE = 60
_SHOWN_LENGTH = 200
_SHOWN_TEXTS = 2
_SHOWN_ROWS = 20
_MOST_CELLS = 20_000


def describe(start: Start, chosen: Chosen) -> list[dict[str, Any]]:
    """Return the columns with samples of what stands in them, and what each was taken for."""
    described = []
    taken = _taken(chosen, start.columns)
    ignored = {at for name in chosen.mapping.ignore for at in start.columns.all_of(name)}
    for at in range(len(start.columns)):
        values = start.sample.values(at)
        samples = [value[:_SHOWN_LENGTH] for value in dict.fromkeys(values)]
        guess = chosen.guesses.get(at)
        column: dict[str, Any] = {
            "name": start.columns.name(at),
            "header": start.columns.header[at],
            "position": at + 1,
            "samples": samples[:_SHOWN_SAMPLES],
            "blanks": start.sample.blanks(at),
            "values": _counted(values),
            "field": guess.field if guess is not None else taken.get(at),
        }
        if guess is not None:
            column |= {"confidence": round(guess.confidence, 2), "reason": guess.reason}
        elif at in taken:
            column |= {"confidence": 1.0, "reason": f"It is so in {_source_of(chosen)}."}
        elif at in ignored or chosen.mapping.rest == "ignore":
            column |= {"confidence": 1.0, "reason": "It is left out, as the mapping says."}
        elif at in chosen.beside:
            field, taken_at = chosen.beside[at]
            reason = (
                f"It could be {field.replace('_', ' ')}, too; {shown(start.columns.name(taken_at))} was taken for that."
            )
            column |= {"confidence": 0.0, "reason": reason}
        else:
            name = shown(start.columns.name(at))
            column |= {"confidence": 0.0, "reason": _without_field(name, is_kept=chosen.mapping.kind != "links")}
            if chosen.mapping.kind != "links" and (made := propose_field(start.columns.name(at), values)) is not None:
                column["make"] = made
        described.append(column)
    if start.is_own:
        mark = {
            "name": MARK,
            "header": MARK,
            "position": len(described) + 1,
            "samples": [],
            "blanks": len(start.sample.rows),
        }
        described.append(
            {**mark, "values": [], "field": None, "confidence": 1.0, "reason": "It says that the table is of our own."}
        )
    return described


def _source_of(chosen: Chosen) -> str:
    """Return where it is from how a table is read, that nobody has guessed."""
    if chosen.preset == OWN:
        return "what Traceline exports"
    return f"exports of {get_preset(chosen.preset).label}" if chosen.preset else "the mapping"


def _without_field(name: str, *, is_kept: bool) -> str:
    if is_kept:
        return f"{name} has no field here. Keep it with each item, or leave it out."
    return f"{name} has no field here, and a link has no place for more: it is not taken."


def _counted(values: list[str]) -> list[dict[str, Any]]:
    """Return what a column says with how many of the first rows say it; nothing of one that is no list of a few."""
    counts = Counter(value.strip() for value in values)
    if len(counts) > _SHOWN_VALUES or any(len(value) > _LONGEST_VALUE for value in counts):
        return []
    return [{"value": value, "count": count} for value, count in counts.most_common()]


def show_tables(starts: Iterable[Start]) -> list[dict[str, Any]]:
    """Return the first rows of tables as they stand in the file, as many as there is room for in an answer."""
    room = _MOST_CELLS
    shown_tables = []
    for start in starts:
        width = max(len(start.columns), 1)
        cells = start.sample.rows[: min(_SHOWN_ROWS, room // width)]
        room -= width * len(cells)
        shown_tables.append(
            {
                "sheet": start.table.name,
                "header_row": start.header_row,
                "count": start.size,
                "names": [start.columns.name(at) for at in range(len(start.columns))],
                "rows": [
                    {"row": number, "cells": [cell[:_SHOWN_LENGTH] for cell in row[:width]]}
                    for number, row in zip(start.numbers, cells, strict=False)
                ],
            }
        )
    return shown_tables


def describe_types(start: Start, rule: TypesRule) -> list[dict[str, Any]]:
    """Return the types of the first rows of a table: how many have each, an example, what it becomes, and why."""
    at = start.columns.position(rule.column, of="the type of each row")
    roles = {fold(value): role for value, role in rule.roles.items()}
    counts = Counter(cells[at].strip() for cells in start.sample.rows if cells[at].strip())
    examples: dict[str, str] = {}
    for cells in start.sample.rows:
        texts = [cell.strip() for place, cell in enumerate(cells) if place != at and cell.strip()]
        examples.setdefault(cells[at].strip(), ", ".join(texts[:_SHOWN_TEXTS])[:_SHOWN_LENGTH])
    return [
        {
            "sheet": start.table.name,
            "type": value,
            "count": count,
            "example": examples[value],
            **_becomes(value, roles.get(fold(value))),
        }
        for value, count in counts.most_common()
    ]


def _becomes(value: str, said: str | None) -> dict[str, str]:
    role = said or role_of_type(value)
    if role is None:
        return {"proposed": "requirements", "reason": "What rows of this type are is not known."}
    if role_of_type(value) != role:
        return {"proposed": role, "reason": "The mapping says so."}
    if role == "ignore":
        return {"proposed": role, "reason": "Rows of this type are neither requirements nor test cases."}
    return {"proposed": role, "reason": f"It is a usual word for {role.replace('_', ' ')}."}


def _taken(chosen: Chosen, columns: Columns) -> dict[int, str]:
    """Return the field of each column that the mapping takes."""
    mapping = chosen.mapping.model_dump(exclude_none=True)
    rules = {
        **mapping["fields"],
        **{end: rule for end, rule in mapping.get("links", {}).items() if isinstance(rule, dict)},
        **mapping.get("relations", {}),
    }
    taken: dict[int, str] = {}
    for name, rule in rules.items():
        for key in ("column", "columns", "columns_named", "action", "data", "expected"):
            for column in rule[key] if isinstance(rule.get(key), list) else [rule.get(key)]:
                if isinstance(column, str) and "{n}" in column:
                    places = list(numbered(columns, column).values())
                elif isinstance(column, str):
                    found = columns.all_named(column)
                    places = found if key == "columns_named" else found[:1]
                elif isinstance(column, int):
                    places = [column - 1]
                else:
                    continue
                for at in places:
                    taken.setdefault(at, name if key in {"column", "columns", "columns_named"} else f"steps.{key}")
    return taken
