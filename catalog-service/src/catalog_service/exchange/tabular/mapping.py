"""The mapping of a table: which column becomes which field. The JSON that people keep, send and see proposed."""

from collections.abc import Callable, Iterable, Iterator
from collections.abc import Mapping as Object
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    PlainValidator,
    Tag,
    ValidationError,
    model_validator,
)

from catalog_service.fields.definitions import KEY, LONGEST_NAME, MOST_CHOICES, PREFIX, FieldKind, ItemName
from catalog_service.links.fields import COLUMNS as LINK_COLUMNS
from catalog_service.requirements.schemas import RequirementWrite
from catalog_service.test_cases.schemas import TestCaseWrite
from catalog_service.values import RelationType
from chassis.core.problems import FieldError, Invalid
from chassis.core.problems import pointer as to_pointer
from chassis.core.wording import listed, nearest, shown
from chassis.web.sentences import sentence_at

Kind = Literal["requirements", "test_cases", "links"]
Checked = TypeVar("Checked", bound=BaseModel)
_WIDEST = 500


def _column(value: Any) -> Any:
    if isinstance(value, str) and value.strip():
        return value
    if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= _WIDEST:
        return value
    raise ValueError(f"{shown(value)} is no column: a column is named by its header, or by its position from 1.")


def _one_or_more(value: Any) -> Any:
    return [_column(column) for column in value] if isinstance(value, list) and value else _column(value)


Column = Annotated[str | int, PlainValidator(_column)]
"""A column by its header, or by its position from 1 where the header does not tell it."""
Columns = Annotated[str | int | list[str | int], PlainValidator(_one_or_more)]

OWN = ("id", "position", "version", "created_at", "updated_at")
"""The fields of an item that are made here."""
_LINK_FIELDS = ("requirement", "test_case", "requirement_id", "test_case_id")
FIELDS: dict[str, tuple[str, ...]] = {
    "requirements": (*RequirementWrite.model_fields, *OWN),
    "test_cases": (*TestCaseWrite.model_fields, *OWN),
    "links": tuple(dict.fromkeys((*_LINK_FIELDS, *LINK_COLUMNS, "requirement_version", "test_case_version"))),
}
"""The fields that a column can become, by the kind of what the rows are."""


class Strict(BaseModel):
    """A part of a mapping, which has no members but those that are known."""

    model_config = ConfigDict(extra="forbid")


class MadeField(Strict):
    """The field of the project that a column is made; it is called as its key where `name` is left out."""

    name: Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)] | None = None
    of: Annotated[list[ItemName], Field(min_length=1, max_length=2)] | None = None
    kind: FieldKind
    choices: Annotated[list[str], Field(max_length=MOST_CHOICES)] = []
    meaning: bool = False


class FieldRule(Strict):
    """Where the value of a field comes from: `column`, `columns`, `columns_named` or `constant`; then what is done.

    `values` replaces values, whatever their case; `*` stands for all others, and for a blank cell. With `known_words`,
    what people usually call the values of the field is replaced by these, before `*`. A column that `fill_down` is set
    for says its value once for all rows below it.
    """

    column: Column | None = None
    columns: Annotated[list[Column], Field(min_length=1)] | None = None
    columns_named: str | None = None
    constant: str | None = None
    join: str = "\n\n"
    default_from: str | None = None
    values: dict[str, str] | None = None
    known_words: bool = False
    split: Annotated[str, Field(min_length=1)] | None = None
    fill_down: bool = False
    make: MadeField | None = None

    @model_validator(mode="after")
    def _has_one_source(self) -> "FieldRule":
        named = self.model_fields_set & {"column", "columns", "columns_named", "constant"}
        if len(named) > 1:
            raise ValueError(f"A field has one source: {listed(sorted(named))}.")
        if not named and self.default_from is None:
            raise ValueError("A field needs a column, columns, columns_named, a constant or default_from.")
        return self


class StepsRule(Strict):
    """Where the steps of a test case are.

    `rows`: a step a row; a row continues the test case above it where the column `continues_when_blank` is blank, or
    `continues_when_same` says the same. `cell`: all of them in one cell, as numbered lines. `columns`: a column a step,
    whose header has the number where the names here have `{n}`. `number` is the column of rows that says which step of
    its test case a row is. `otherwise`: where those of a test case are that has
    none there.
    """

    style: Literal["rows", "cell", "columns"]
    action: Columns
    data: Column | None = None
    expected: Column | None = None
    continues_when_blank: Column | None = None
    continues_when_same: Column | None = None
    number: Column | None = None
    otherwise: "StepsRule | None" = None

    @model_validator(mode="after")
    def _fits_its_style(self) -> "StepsRule":
        of_rows = (self.continues_when_blank is not None) + (self.continues_when_same is not None)
        if of_rows != (self.style == "rows"):
            raise ValueError(
                "Steps of the style rows need either continues_when_blank or continues_when_same, others none of them."
            )
        if self.style == "columns" and not (isinstance(self.action, str) and "{n}" in self.action):
            raise ValueError('Steps of the style columns need an action such as "Step {n}".')
        if self.otherwise is not None and self.otherwise.style == "rows":
            raise ValueError("Steps that are in rows have to come first, not otherwise.")
        return self


def _tag(value: Any) -> str:
    has_style = "style" in value if isinstance(value, dict) else isinstance(value, StepsRule)
    return "(steps)" if has_style else "(field)"


Rule = Annotated[Annotated[FieldRule, Tag("(field)")] | Annotated[StepsRule, Tag("(steps)")], Discriminator(_tag)]


class EndRule(FieldRule):
    """Where the external ids of what a row is linked with come from; `prefix` is put before each.

    Several in a cell stand between `split`, else between commas, semicolons, bars or line breaks. Where a cell says a
    role before a key (`is verified by: T-3 - Check`), those of other roles are relations; with `by_role`, so are those
    of none.
    """

    prefix: str = ""
    by_role: bool = False


class LinksRule(Strict):
    """Columns that hold the external ids of what a row is linked with."""

    requirements: EndRule | None = None
    test_cases: EndRule | None = None
    link_type: str | None = None


class ParentsRule(FieldRule):
    """Where the external ids of what stands above a row come from; `prefix` is put before each.

    Several in a cell stand between `split`, else between commas, semicolons, bars or line breaks.
    """

    prefix: str = ""
    relation_type: RelationType = RelationType.REFINES
    role: Annotated[str, Field(max_length=100)] | None = None

    @model_validator(mode="after")
    def _is_of_a_column(self) -> "ParentsRule":
        if self.column is None:
            raise ValueError("Parents need a column, the one that names them.")
        return self


class RelationsRule(Strict):
    """Columns that hold the external ids of requirements that a row, a requirement, has a relation with."""

    parents: ParentsRule


class HeadingsRule(Strict):
    """Rows that are headings: they say something in `column` and nothing in `texts`; `level` says how deep they are.

    They are no items: what stands below them keeps them as its sections.
    """

    column: Column
    texts: Annotated[list[Column], Field(min_length=1)]
    level: Column | None = None


class LeftOut(Strict):
    """Rows that are not read: those whose column has one of these values, whatever their case."""

    column: Column
    values: Annotated[list[str], Field(min_length=1)]


class Mapping(Strict):
    """How a table is read. What no field takes goes to `custom_metadata`, unless `rest` or `ignore` says otherwise.

    `external_id_prefix` is put before the external ids of the file's own items, also where its links name these; a
    table of links is all of such. What else a row is linked with is called as in the record, or has its own prefix.
    Of a format that has types, `types` says what items of a type of this name become; it was called `kinds`. Where
    `markup` is html, texts and steps are read as the plain text that people see.
    """

    version: Literal[1]
    name: str | None = None
    format: Literal["csv", "xlsx"] | None = None
    kind: Kind
    encoding: str | None = None
    delimiter: Annotated[str, Field(min_length=1, max_length=1)] | None = None
    sheet: str | None = None
    header_row: Annotated[int, Field(strict=True, ge=1)] | None = None
    key: list[str] | None = None
    external_id_prefix: str | None = None
    source_system: Annotated[str, Field(max_length=50)] | None = None
    kinds: dict[str, Literal["requirements", "test_cases", "structure"]] = {}
    types: dict[str, Literal["requirements", "test_cases", "structure"]] = {}
    fields: dict[str, Rule] = {}
    links: LinksRule | None = None
    relations: RelationsRule | None = None
    rest: Literal["custom_metadata", "ignore"] = "custom_metadata"
    ignore: list[Column] = []
    leave_out: LeftOut | None = None
    headings: HeadingsRule | None = None
    markup: Literal["html"] | None = None


def parse_mapping(content: Object[str, Any], *, at: str = "") -> Mapping:
    """Return the mapping of a JSON object; raise Invalid with what is wrong and where, as pointers below `at`."""
    return validate(Mapping, content, contradictions, at=at)


def validate(
    model: type[Checked],
    content: Object[str, Any],
    find_contradictions: Callable[[Checked, str], Iterable[FieldError]],
    *,
    at: str,
) -> Checked:
    """Return an object as its model has it; raise Invalid for what is wrong or contradicts itself, as pointers."""
    try:
        checked = model.model_validate(content)
    except ValidationError as error:
        raise Invalid.fields(field_errors(error, at)) from None
    if errors := list(find_contradictions(checked, at)):
        raise Invalid.fields(errors)
    return checked


def contradictions(mapping: Mapping, at: str) -> Iterator[FieldError]:
    """Yield what contradicts itself in a mapping, as pointers below `at`."""
    for where, message, code in _contradictions(mapping):
        yield FieldError(f"{at}{where}", message, code)


def _contradictions(mapping: Mapping) -> Iterator[tuple[str, str, str]]:
    known = FIELDS[mapping.kind]
    if not mapping.fields and not mapping.kinds and not mapping.types:
        message = f"The mapping takes nothing from the file. Name the fields to read, of {listed(known, 'and')}."
        yield to_pointer("fields"), message, "no_fields"
    for name, rule in mapping.fields.items():
        if name.startswith(PREFIX) and mapping.kind != "links":
            if not KEY.fullmatch(name.removeprefix(PREFIX)) or not isinstance(rule, FieldRule):
                message = f"{shown(name)} names no field of a project: its key has 1 to 40 of a-z, 0-9 and _."
                yield to_pointer("fields", name), message, "no_such_field"
        elif isinstance(rule, FieldRule) and rule.make is not None:
            message = f"{shown(name)} is no field of a project, which alone can be made: call it {PREFIX}KEY."
            yield to_pointer("fields", name, "make"), message, "no_such_field"
        elif name not in known:
            near = nearest(name, known)
            meant = f"Did you mean {near}?" if near else f"It can be {listed(known)}."
            yield to_pointer("fields", name), f"{mapping.kind} have no field {shown(name)}. {meant}", "no_such_field"
        elif isinstance(rule, StepsRule) and name != "steps":
            yield to_pointer("fields", name), f"Only steps have a style, not {name}.", "no_steps"
        elif isinstance(rule, FieldRule) and rule.default_from not in {None, *mapping.fields}:
            message = f"There is no field {shown(rule.default_from)} in the mapping to take a value from."
            yield to_pointer("fields", name, "default_from"), message, "no_such_field"
    for end in ("requirements", "test_cases") if mapping.links is not None else ():
        if getattr(mapping.links, end) is not None and mapping.kind in {end, "links"}:
            message = f"Rows that are {mapping.kind} cannot have a column of {end} that they are linked with."
            yield to_pointer("links", end), message, "wrong_end"
    if mapping.relations is not None and mapping.kind != "requirements":
        message = f"Only requirements stand below others, and rows here are {mapping.kind}."
        yield to_pointer("relations", "parents"), message, "wrong_end"
    for position, name in enumerate(mapping.key or ()):
        if name not in mapping.fields:
            message = f"The key names {shown(name)}, which is not among the fields of the mapping."
            yield to_pointer("key", position), message, "no_such_field"


def field_errors(error: ValidationError, at: str) -> list[FieldError]:
    """Return what is wrong with a mapping as its model says it, as pointers below `at`."""
    return [_field_error(entry, at) for entry in error.errors()]


def _field_error(entry: Any, at: str) -> FieldError:
    steps = [step for step in entry["loc"] if step not in {"(field)", "(steps)"}]
    if entry["type"] == "extra_forbidden":
        message = f"A mapping has no {shown(str(steps[-1]))} here."
    else:
        message = sentence_at(entry, steps)
    return FieldError(f"{at}{to_pointer(*steps)}", message, entry["type"])
