"""The mapping of a whole file, version 2: what each of its sheets is, and what becomes of its columns."""

from collections.abc import Iterator
from collections.abc import Mapping as Object
from typing import Annotated, Any, Literal

from pydantic import Field

from catalog_service.exchange.tabular.mapping import (
    Column,
    HeadingsRule,
    Kind,
    LeftOut,
    LinksRule,
    Mapping,
    RelationsRule,
    Rule,
    Strict,
    contradictions,
    parse_mapping,
    validate,
)
from chassis.core.problems import FieldError
from chassis.core.problems import pointer as to_pointer
from chassis.core.wording import shown

Role = Literal["requirements", "test_cases", "links", "matrix", "ignore"]
Asked = Literal["auto", "requirements", "test_cases", "links", "matrix", "ignore"]
SourceSystem = Annotated[str, Field(max_length=50)]
_MOST_SHEETS = 1000
_OF_ALL = ("name", "format", "encoding", "delimiter", "external_id_prefix")
_OF_SHEET = ("sheet", "header_row", "fields", "links", "relations", "rest", "ignore", "leave_out", "headings", "markup")


class MatrixRule(Strict):
    """Where the keys of a matrix of marks stand: those of one kind in a column, of the other kind in headers.

    `down` is the kind of those in the column `keys`; the others are in the headers of the columns `across`. A mark is a
    link of the type `link_type`, unless it says another one.
    """

    down: Literal["requirements", "test_cases"]
    keys: Column
    across: Annotated[list[Column], Field(min_length=1)]
    link_type: str = "covers"


class TypesRule(Strict):
    """What rows become by what a column says of their type; of types that are not listed, what their words say."""

    column: Column
    roles: Annotated[dict[str, Literal["requirements", "test_cases", "ignore"]], Field(min_length=1)]


class SheetRule(Strict):
    """What a sheet is, and how it is read; of a sheet that is ignored nothing more is said.

    A sheet may be there several times, as what its rows are together: requirements, test cases, a matrix. A file that
    has no sheets has one without a name. `source_system` goes before that of the file.

    `types`: of all parts of the sheet, which rows each takes. `repeats`: items stand in several rows, as those of a
    requirement with several test cases; each is read once, and columns that no field takes are of the other part.

    Of a sheet of which only its header and role are said, the rest is proposed; `auto` has the role proposed, too.
    """

    sheet: str | None = None
    role: Asked
    header_row: Annotated[int, Field(strict=True, ge=1)] | None = None
    fields: dict[str, Rule] = {}
    links: LinksRule | None = None
    relations: RelationsRule | None = None
    rest: Literal["custom_metadata", "ignore"] = "custom_metadata"
    ignore: list[Column] = []
    leave_out: LeftOut | None = None
    headings: HeadingsRule | None = None
    markup: Literal["html"] | None = None
    matrix: MatrixRule | None = None
    types: TypesRule | None = None
    repeats: bool = False
    source_system: SourceSystem | None = None

    @property
    def is_open(self) -> bool:
        """Whether how the sheet is read is to be proposed."""
        rules = (self.fields, self.links, self.relations, self.matrix, self.types)
        return self.role == "auto" or (self.role != "ignore" and not any(rules))


class RecordMapping(Strict):
    """How all sheets of a file are read; beside `sheets` it has what is the same for all of them.

    Items of any sheet are found by `key` where they have no external id.
    """

    version: Literal[2]
    name: str | None = None
    format: Literal["csv", "xlsx"] | None = None
    encoding: str | None = None
    delimiter: Annotated[str, Field(min_length=1, max_length=1)] | None = None
    key: list[str] | None = None
    external_id_prefix: str | None = None
    source_system: SourceSystem | None = None
    kinds: dict[str, Literal["requirements", "test_cases", "structure"]] = {}
    sheets: Annotated[list[SheetRule], Field(min_length=1, max_length=_MOST_SHEETS)]

    def of_sheet(self, rule: SheetRule) -> Mapping:
        """Return the mapping of the rows of one sheet, which is not ignored; those of a matrix are links."""
        common = {name: getattr(self, name) for name in _OF_ALL}
        own = {name: getattr(rule, name) for name in _OF_SHEET}
        system = rule.source_system or self.source_system
        assert rule.role not in ("ignore", "auto")
        kind: Kind = rule.role if rule.role in ("requirements", "test_cases") else "links"
        return Mapping.model_construct(version=1, kind=kind, source_system=system, **common, **own)


def parse_any_mapping(content: Object[str, Any], *, at: str = "") -> Mapping | RecordMapping:
    """Return the mapping of a JSON object, of either version; raise Invalid as `parse_mapping` does."""
    if content.get("version") != 2:
        return parse_mapping(content, at=at)
    return validate(RecordMapping, content, _contradictions, at=at)


def _contradictions(mapping: RecordMapping, at: str) -> Iterator[FieldError]:
    fields: set[str] = set()
    for position, rule in enumerate(mapping.sheets):
        fields.update(rule.fields)
        if rule.is_open:
            if rule.fields or rule.links or rule.relations or rule.matrix or rule.types:
                message = "Where fields are said, the role is, too: requirements, test_cases, links or matrix."
                yield FieldError(f"{at}{to_pointer('sheets', position, 'role')}", message, "contradiction")
        elif (rule.matrix is not None) != (rule.role == "matrix"):
            message = "A sheet of the role matrix says where its keys stand (matrix); others do not."
            yield FieldError(f"{at}{to_pointer('sheets', position, 'matrix')}", message, "contradiction")
        elif rule.role not in ("ignore", "matrix"):
            yield from contradictions(mapping.of_sheet(rule), f"{at}{to_pointer('sheets', position)}")
    for position, name in enumerate(mapping.key or ()):
        if name not in fields:
            message = f"The key names {shown(name)}, which is among the fields of no sheet."
            yield FieldError(f"{at}{to_pointer('key', position)}", message, "no_such_field")
