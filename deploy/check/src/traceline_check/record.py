"""The record as files have it: requirements, test cases and links, and what of them could not be taken."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from catalog_service.exchange import registry
from catalog_service.exchange.formats import ReadOptions
from catalog_service.exchange.incomplete import INCOMPLETE, relations_kept
from catalog_service.exchange.records import Item, Link, Notice, Reference, Unreadable
from catalog_service.exchange.validation import Checked, Validation
from catalog_service.items.source_urls import SourceUrls
from chassis.core.problems import Problem
from chassis.core.wording import shown
from traceline_check.sources import Source, sentence_of

_SCHEMES = ("doors",)
_MOST_PROBLEMS = 1000
_SAID_ALONE = "relations_kept"
"""Relations between requirements make no verdict: they are told, and lose nothing."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A requirement or a test case. `number` is its place among all items, and what else refers to it by."""

    number: int
    kind: str
    external_id: str | None
    fields: Mapping[str, Any]
    source: str

    @property
    def name(self) -> str:
        """What a person calls it."""
        return str(self.external_id or self.fields.get("title") or "")


@dataclass(slots=True)
class Record:
    """All items, and the links between them as numbers of a requirement and a test case, with their types."""

    items: list[Piece] = field(default_factory=list)
    links: dict[tuple[int, int], str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    by_id: dict[tuple[str, str], Piece] = field(default_factory=dict)
    """By kind, and external id or id."""

    def of_kind(self, kind: str) -> list[Piece]:
        """Return the requirements or the test cases."""
        return [item for item in self.items if item.kind == kind]

    def refuse(self, problem: str) -> None:
        """Note what could not be taken."""
        if len(self.problems) < _MOST_PROBLEMS:
            self.problems.append(problem)


def read_record(sources: list[Source]) -> Record:
    """Return the record of all sources: links are found over all of them."""
    record = Record()
    links: list[tuple[Source, Checked]] = []
    for source in sources:
        try:
            _read(source, record, links)
        except (Unreadable, Problem, OSError, MemoryError) as error:
            record.unreadable.append(f"{source.name}: {sentence_of(error)}")
    for source, checked in links:
        _link(source, checked, record)
    return record


def _read(source: Source, record: Record, links: list[tuple[Source, Checked]]) -> None:
    validation = Validation(SourceUrls(_SCHEMES), "traceline check", replacing=False, restoring=False)
    relations: Counter[str] = Counter()
    with source.open() as file:
        for found in registry.find(source.format).read(file, ReadOptions(file_name=source.files[0].name)):
            if isinstance(found, Notice):
                _note(source, found, record)
            elif isinstance(found, Item):
                if found.relations:
                    relations[found.kind] += found.relations
                _add(source, validation.check(found), record)
            elif isinstance(found, Reference) and found.fields.get("reference_kind") != "link":
                _note(source, Notice(_SAID_ALONE, "A reference to a relation makes no verdict."), record)
            elif isinstance(found, Link | Reference):
                links.append((source, validation.check(found)))
    for notice in relations_kept(relations):
        _note(source, notice, record)


def _note(source: Source, notice: Notice, record: Record) -> None:
    said = f"{source.name}: {notice.message}"
    if (notice.unclean or notice.code in INCOMPLETE) and notice.code != _SAID_ALONE:
        record.refuse(said)
    else:
        record.warnings.append(said)


def _place(source: Source, checked: Checked) -> str:
    line, row = getattr(checked.record, "line", None), checked.record.row
    sheet = getattr(checked.record, "sheet", None)
    return f"{source.name}:{f'{sheet}:' if sheet else ''}{line if line is not None else f'row {row}'}"


def _add(source: Source, checked: Checked, record: Record) -> None:
    if checked.problems:
        said = "; ".join(_said(one) for one in checked.problems)
        record.refuse(f"{_place(source, checked)}: {said}")
        return
    external_id = checked.fields.get("external_id")
    item = Piece(len(record.items), checked.kind, external_id, checked.fields, source.name)
    keys = [(checked.kind, str(key)) for key in (external_id, checked.fields.get("id")) if key is not None]
    known = next((record.by_id[key] for key in keys if key in record.by_id), None)
    if known is not None:
        where = "" if known.source == source.name else f" in {known.source}"
        record.refuse(
            f"{_place(source, checked)}: {shown(item.name)} is there twice, first{where}. Name each item once."
        )
        return
    record.items.append(item)
    for key in keys:
        record.by_id[key] = item


def _link(source: Source, checked: Checked, record: Record) -> None:
    if checked.problems:
        record.refuse(f"{_place(source, checked)}: {'; '.join(_said(one) for one in checked.problems)}")
        return
    assert isinstance(checked.record, Link), "links were kept"
    ends = {"requirement": checked.record.requirement, "test_case": checked.record.test_case}
    found = {kind: _end(kind, end, record) for kind, end in ends.items()}
    for kind, end in ends.items():
        if found[kind] is None:
            name = shown(next(iter([*end.values()][::-1]), ""))
            record.refuse(
                f"{_place(source, checked)}: a link names the {kind.replace('_', ' ')} {name}, which is in no file."
            )
            return
    requirement, test_case = found["requirement"], found["test_case"]
    assert requirement is not None, "it was found"
    assert test_case is not None, "it was found"
    link_type = str(checked.fields["link_type"])
    if record.links.setdefault((requirement.number, test_case.number), link_type) != link_type:
        pair = f"{shown(requirement.name)} with {shown(test_case.name)}"
        record.refuse(f"{_place(source, checked)}: the link of {pair} is there twice, of different types. Keep one.")


def _end(kind: str, end: Mapping[str, str], record: Record) -> Piece | None:
    named = (record.by_id.get((kind, str(end[key]))) for key in ("id", "external_id") if key in end)
    return next((item for item in named if item is not None), None)


def _said(problem: Mapping[str, Any]) -> str:
    return f"{problem['name']}: {problem['message']}" if problem.get("name") else str(problem["message"])
