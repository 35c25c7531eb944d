"""What readers make of a file, whatever its format: items, links, relations, and what a person has to know of them.

A reader runs in a process of its own and writes one record a line, as JSON.
"""

from dataclasses import dataclass, field
from typing import Any, Literal

import orjson

ItemKind = Literal["requirement", "test_case"]


class Unreadable(Exception):
    """The file is not what it says, or breaks a limit: nothing of it is used. `code` is that of the 422.

    `line` and `column` count from 1, `offset` is in bytes from 0; whichever of them is known.
    """

    def __init__(
        self,
        message: str,
        *,
        code: str = "unreadable_file",
        line: int | None = None,
        column: int | None = None,
        offset: int | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.line = line
        self.column = column
        self.offset = offset


@dataclass(frozen=True, slots=True)
class Remark:
    """A problem or a warning; `column` names the column, field or attribute that it is about."""

    code: str
    message: str
    column: str | None = None


@dataclass(slots=True)
class Item:
    """A requirement or a test case of a file.

    `fields` are named and typed as the API takes them (`external_id`, `tags` as a list, `custom_metadata` as an object,
    `steps` as {"1": text}), only those that the file says something of; a native file's have `id`, and for a restore
    `created_at` and the like. `row` counts the rows or objects of the file from 1 as a person does, `line` its lines.
    `version` is what a native file says. `defaulted` are required fields that the mapping had to fill.
    `of_type` is what the file calls its type, in formats that have types of their own.
    `relations` are how many relations with other items custom_metadata keeps that no link can be made of.
    `source` are the cells of the row as they were sent, so that a refused row can be given back; of an item of several
    rows one row behind the other, each as wide as the header.
    """

    kind: ItemKind
    row: int
    fields: dict[str, Any]
    line: int | None = None
    version: int | None = None
    defaulted: list[str] = field(default_factory=list)
    problems: list[Remark] = field(default_factory=list)
    warnings: list[Remark] = field(default_factory=list)
    source: list[str] | None = None
    sheet: str | None = None
    relations: int = 0
    of_type: str | None = None


@dataclass(slots=True)
class Link:
    """A link of a file: its ends by `{"id": ...}` or `{"external_id": ...}`; `fields`: link_type and notes."""

    row: int
    requirement: dict[str, str]
    test_case: dict[str, str]
    fields: dict[str, Any] = field(default_factory=dict)
    line: int | None = None
    problems: list[Remark] = field(default_factory=list)
    warnings: list[Remark] = field(default_factory=list)
    source: list[str] | None = None
    sheet: str | None = None


@dataclass(slots=True)
class Relation:
    """A relation of a file: its requirements as a link has its ends; `fields`: relation_type, role and notes."""

    row: int
    child: dict[str, str]
    parent: dict[str, str]
    fields: dict[str, Any] = field(default_factory=dict)
    line: int | None = None
    problems: list[Remark] = field(default_factory=list)
    warnings: list[Remark] = field(default_factory=list)
    source: list[str] | None = None
    sheet: str | None = None


@dataclass(slots=True)
class Revision:
    """What changed an item's meaning, from a native file: `item_id`, `version`, `changed_fields`, `changed_at`."""

    row: int
    fields: dict[str, Any]


@dataclass(slots=True)
class Reference:
    """A reference that waited for its other end where a native file was written: the columns of its table.

    What it becomes, a link or a relation, is its `reference_kind`.
    """

    row: int
    fields: dict[str, Any]
    line: int | None = None

    def as_record(self) -> "Link | Relation":
        """Return it as a link or a relation of which one end may be there by now."""
        owner = {"id": str(self.fields.get("owner_id"))}
        if self.fields.get("owner_id") is None:
            owner = {"external_id": str(self.fields.get("owner_key"))}
        if self.fields.get("reference_kind") == "relation":
            fields = {"relation_type": self.fields.get("link_type"), "role": self.fields.get("role")}
            parent = {"external_id": str(self.fields.get("key"))}
            return Relation(self.row, owner, parent, {**fields, "notes": self.fields.get("notes")}, self.line)
        ends = {self.fields.get("owner_kind"): owner}
        ends[self.fields.get("wanted_kind")] = {"external_id": str(self.fields.get("key"))}
        given = {name: self.fields.get(name) for name in ("link_type", "confidence_score", "notes")}
        return Link(self.row, ends.get("requirement", {}), ends.get("test_case", {}), given, self.line)


@dataclass(slots=True)
class Notice:
    """Something that concerns the whole file, such as what of it is not taken; `count` times.

    `unclean`: what is not taken may be an item or a link, so that the plan is not clean.
    """

    code: str
    message: str
    count: int = 1
    unclean: bool = False


@dataclass(slots=True)
class Document:
    """Something of the file that is stored beside the record, to be written out again: the schema of a ReqIF file."""

    name: str
    content: dict[str, Any]


Record = Item | Link | Relation | Revision | Reference | Notice | Document

_TYPES: dict[str, type[Record]] = {
    "item": Item,
    "link": Link,
    "relation": Relation,
    "revision": Revision,
    "reference": Reference,
    "notice": Notice,
    "document": Document,
}
_NAMES = {record: name for name, record in _TYPES.items()}


def encode(record: Record) -> bytes:
    """Return a record as one line of JSON, with its end."""
    content = {name: getattr(record, name) for name in record.__slots__}
    return orjson.dumps({"record": _NAMES[type(record)], **content}, option=orjson.OPT_APPEND_NEWLINE)


def decode(line: bytes) -> Record:
    """Return the record that `encode` wrote."""
    content = orjson.loads(line)
    for name in ("problems", "warnings"):
        if name in content:
            content[name] = [Remark(**remark) for remark in content[name]]
    return _TYPES[content.pop("record")](**content)
