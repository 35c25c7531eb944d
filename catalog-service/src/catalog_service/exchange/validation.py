"""Checks what readers make of a file by the models of the API, and writes it down as rows of import_rows.

A row is checked with all its fields, whether it will change an item or become one: what a new item needs and the row
lacks are problems of the code `missing`, which planning drops where the item is there already.
"""

import re
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from types import MappingProxyType
from typing import Any
from uuid import UUID

import orjson
from pydantic import BaseModel, TypeAdapter, ValidationError

from catalog_service.exchange.item_fields import JSON_FIELDS, ItemFields
from catalog_service.exchange.record_models import (
    VERSIONS,
    LinkWrite,
    RelationWrite,
    RestoredLink,
    RestoredReference,
    RestoredRelation,
    RestoredRequirement,
    RestoredRevision,
    RestoredTestCase,
    Version,
)
from catalog_service.exchange.records import Item, Link, Reference, Relation, Remark, Revision
from catalog_service.exchange.words import fold
from catalog_service.fields.definitions import FIELDS, NONE, PREFIX, Fields
from catalog_service.fields.texts import value_of
from catalog_service.fields.values import is_blank, refusal, values_of
from catalog_service.items.source_urls import SourceUrls
from catalog_service.requirements.schemas import RequirementWrite
from catalog_service.test_cases.schemas import TestCaseWrite
from chassis.core.problems import Invalid
from chassis.core.wording import nearest
from chassis.web import strict_json
from chassis.web.sentences import sentence_at

MISSING = "missing"
COLUMNS = "kind, row, line, fields, given, version, problems, warnings, source, action, code, sheet"
"""Of import_rows, in the order of a line of `Checked`."""

_MOST_PROBLEMS_A_ROW = 100
_MOST_PROBLEMS = 100_000
_MOST_SHOWN = 200
_PLACEHOLDERS = {"title": "-", "description": "-", "type": "functional", "priority": "medium"}
"""What stands for a required field that the file lacks, so that all others are checked."""
_KEPT = ("created_by", "section")
"""What stays of an item that is replaced, unless it is given."""
_MOMENT: TypeAdapter[datetime] = TypeAdapter(datetime)
_VERSION: TypeAdapter[int] = TypeAdapter(Version)
_NULL = b"\\N"


_MODELS: dict[str, type[BaseModel]] = {"requirement": RequirementWrite, "test_case": TestCaseWrite}
_STORED: dict[str, type[BaseModel]] = {"requirement": RestoredRequirement, "test_case": RestoredTestCase}
_FIELDS = {kind: dict.fromkeys(model.model_fields) for kind, model in _MODELS.items()}


@dataclass(slots=True)
class Tally:
    """How often each code was met, and in which row first."""

    counts: Counter[str] = field(default_factory=Counter)
    first: dict[str, dict[str, Any]] = field(default_factory=dict)

    def add(self, remark: Mapping[str, Any], row: int | None, count: int = 1) -> None:
        """Count a remark of a row."""
        code = remark["code"]
        self.counts[code] += count
        self.first.setdefault(code, {"row": row, "message": remark["message"]})

    def listed(self) -> list[dict[str, Any]]:
        """Return code, count, first row and message of each, the most frequent first."""
        return [{"code": code, "count": count, **self.first[code]} for code, count in self.counts.most_common()]


@dataclass(slots=True)
class Checked:
    """A record that was checked: its fields as they would be stored, which of them the file has, what is wrong."""

    kind: str
    record: Item | Link | Relation | Reference | Revision
    fields: dict[str, Any]
    given: tuple[str, ...] | None
    problems: list[dict[str, Any]]
    is_refused: bool

    @property
    def warnings(self) -> list[dict[str, Any]]:
        """What there is to know of it."""
        return _remarks(getattr(self.record, "warnings", []))


class Validation:
    """Checks the records of one file.

    `replacing`: fields that a row lacks fall back to their defaults. `restoring`: rows keep their ids, versions and
    times. `author` is who creates what names no creator. `fields` and `levels` are those of the project.
    """

    def __init__(
        self,
        source_urls: SourceUrls,
        author: str,
        *,
        replacing: bool,
        restoring: bool,
        fields: Fields = NONE,
        levels: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._own = fields
        self._levels = {} if restoring else {fold(said): key for key, name in levels.items() for said in (name, key)}
        self._source_urls = source_urls
        self._author = author
        self._whole = replacing or restoring
        self._restoring = restoring
        self.warnings = Tally()
        self.defaulted: Counter[str] = Counter()
        self._kept = 0
        self._models = _STORED if restoring else _MODELS
        # Members could be merged into what was there, without end.
        self._most = sys.maxsize if restoring else strict_json.MAX_MEMBERS
        self._fields = {kind: ItemFields(model, self._most) for kind, model in self._models.items()}

    def row(self, record: Item | Link | Relation | Reference | Revision) -> bytes:
        """Return a record as a line of COPY, with its end."""
        return self._line(self.check(record))

    def check(self, record: Item | Link | Relation | Reference | Revision) -> Checked:
        """Return a record with what is wrong with it."""
        if isinstance(record, Item):
            return self._item(record)
        if isinstance(record, Link):
            return self._link(record)
        if isinstance(record, Relation):
            return self._relation(record)
        if isinstance(record, Reference):
            if self._restoring:
                return self._stored("reference", RestoredReference, record)
            return self.check(record.as_record())
        return self._stored("revision", RestoredRevision, record)

    def _item(self, item: Item) -> Checked:
        sent = {name: value for name, value in item.fields.items() if value is not None}
        missing = [] if _PLACEHOLDERS.keys() <= sent.keys() else [name for name in _PLACEHOLDERS if name not in sent]
        fields: dict[str, Any] = {}
        if item.problems:
            problems = [*_remarks(item.problems), *_unstorable(sent, self._most)]
        else:
            fields, problems = self._read(item.kind, sent, missing)
            if self._own and not problems:
                problems = self._fit(item, fields)
        is_refused = bool(problems)
        if is_refused:
            # As they were sent, so that the row is known by its key.
            fields = {name: value for name, value in sent.items() if _is_storable(value, self._most)}
        if missing:
            for name in missing:
                fields.pop(name, None)
            problems += [_problem(name, MISSING, "This is missing; a new item needs it.") for name in missing]
            is_refused = is_refused or self._whole
        if self._restoring or "id" in sent:
            wrong = self._identity(item, sent, fields)
            problems += wrong
            is_refused = is_refused or bool(wrong)
        if self._restoring:
            given = None
        elif self._whole:
            given = tuple(name for name in _FIELDS[item.kind] if name not in _KEPT or name in sent)
        else:
            given = _known(item.kind, tuple(item.fields), tuple(item.defaulted))
        if fields.get("created_by") is None and not self._restoring:
            fields["created_by"] = self._author
        if item.defaulted:
            self.defaulted.update(item.defaulted)
        return Checked(item.kind, item, fields, given, problems, is_refused)

    def _read(
        self, kind: str, sent: Mapping[str, Any], missing: list[str]
    ) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """Return the fields of an item as its model reads them, something for those that are missing; or problems."""
        filled = {**{name: _PLACEHOLDERS[name] for name in missing}, **sent} if missing else sent
        if isinstance(said := filled.get("level"), str) and fold(said) in self._levels:
            filled = {**filled, "level": self._levels[fold(said)]}
        fields = self._fields[kind].read(filled)
        if fields is None and (problems := _unstorable(sent, self._most)):
            return {}, problems
        try:
            if fields is None:
                fields = dict(self._models[kind].model_validate(filled).__dict__)
            self._source_urls.check(fields["source_url"])
        except ValidationError as error:
            return {}, _of_validation(error)
        except Invalid as error:
            return {}, [_problem("source_url", one.code, one.message, sent["source_url"]) for one in error.errors]
        return fields, []

    def _fit(self, item: Item, fields: dict[str, Any]) -> list[dict[str, Any]]:
        """Read the values of fields of the project as their kinds have them; return what is wrong with them.

        Of an item that is there already it is not asked what it has of them: planning looks at that.
        """
        given = values_of(fields.get("custom_metadata"))
        is_replaced = self._whole and not self._restoring
        if not given and not is_replaced:
            return []
        values, problems = {}, []
        for key, said in given.items():
            one = self._own.of(item.kind).get(key)
            value = value_of(one, said) if one is not None and isinstance(said, str) else said
            values[key] = value
            if one is None:
                if key not in self._own.former:
                    message = f"The project has no field {key} of a {item.kind.replace('_', ' ')}; it is further data."
                    item.warnings.append(Remark("unknown_field", message, key))
            elif not is_blank(value) and (wrong := refusal(one, value)) is not None:
                problems.append(_problem(f"{PREFIX}{key}", "field_value", wrong, said))
        if is_replaced:
            values = {key: value for key, value in values.items() if not is_blank(value)}
            for key, one in self._own.of(item.kind).items():
                if one.required and key not in values and one.default is not None:
                    values[key] = one.default
                    self.defaulted[f"{PREFIX}{key}"] += 1
                elif one.required and key not in values:
                    message = f"{one.name} (field {key}) is missing; each item needs it."
                    problems.append(_problem(f"{PREFIX}{key}", MISSING, message))
        if values or given:
            fields["custom_metadata"] = {**(fields.get("custom_metadata") or {}), FIELDS: values}
        return problems

    def _identity(self, item: Item, sent: Mapping[str, Any], fields: dict[str, Any]) -> list[dict[str, Any]]:
        """Put the id of the file, and what a restore keeps, to the fields; return what is wrong with it."""
        problems = []
        if "id" in sent:
            try:
                fields["id"] = str(UUID(str(sent["id"])))
            except ValueError:
                problems.append(_problem("id", "uuid_parsing", "This is no id of an item.", sent["id"]))
        if not self._restoring:
            return problems
        fields["version"] = item.version
        native_fields = {"id": None, "version": _VERSION, "created_at": _MOMENT, "updated_at": _MOMENT}
        values = {**sent, "version": item.version}
        for name, adapter in native_fields.items():
            if values.get(name) is None:
                problems.append(_problem(name, "not_restorable", f"A restore needs the {name} of each item."))
            elif adapter is not None:
                try:
                    fields[name] = adapter.validate_python(values[name])
                except ValidationError as error:
                    problems += [
                        _problem(name, one["type"], sentence_at(one, [name]), values[name])
                        for one in error.errors(include_url=False)
                    ]
        return problems

    def _link(self, link: Link) -> Checked:
        ends = {"requirement": link.requirement, "test_case": link.test_case}
        return self._joined("link", link, ends, LinkWrite, RestoredLink if self._restoring else LinkWrite)

    def _relation(self, relation: Relation) -> Checked:
        ends = {"child": relation.child, "parent": relation.parent}
        model = RestoredRelation if self._restoring else RelationWrite
        return self._joined("relation", relation, ends, RelationWrite, model)

    def _joined(
        self,
        kind: str,
        record: Link | Relation,
        ends: Mapping[str, dict[str, str]],
        written: type[BaseModel],
        model: type[BaseModel],
    ) -> Checked:
        """Return what joins two items with what is wrong with it; `written` has the fields that a file may give."""
        problems = _remarks(record.problems)
        sent = {name: value for name, value in record.fields.items() if value is not None}
        problems += _unstorable({**sent, **ends}, self._most)
        fields: dict[str, Any] = {}
        if not problems:
            try:
                fields = dict(model.model_validate(sent).__dict__)
            except ValidationError as error:
                problems += _of_validation(error)
        for name, end in ends.items():
            wrong = _wrong_end(name, end, kind)
            if wrong is not None:
                problems.append(wrong)
            elif _is_storable(end, self._most):
                fields[name] = end
        given = None if self._restoring else tuple(name for name in record.fields if name in written.model_fields)
        return Checked(kind, record, fields, given, problems, bool(problems))

    def _stored(self, kind: str, model: type[BaseModel], record: Reference | Revision) -> Checked:
        problems = _unstorable(record.fields, self._most)
        fields: dict[str, Any] = {}
        try:
            fields = dict(model.model_validate(record.fields).__dict__)
        except ValidationError as error:
            problems += _of_validation(error)
        return Checked(kind, record, {} if problems else fields, None, problems, bool(problems))

    def _line(self, checked: Checked) -> bytes:
        record, problems, given, warnings = checked.record, checked.problems, checked.given, checked.warnings
        for warning in warnings:
            self.warnings.add(warning, record.row)
        shown = problems[: min(_MOST_PROBLEMS_A_ROW, _MOST_PROBLEMS - self._kept)]
        self._kept += len(shown) if checked.is_refused else 0
        source, line = getattr(record, "source", None), getattr(record, "line", None)
        sheet = getattr(record, "sheet", None)
        version = getattr(record, "version", None)
        if version is not None and version not in VERSIONS:
            version = None
        return (
            b"\t".join(
                (
                    checked.kind.encode(),
                    b"%d" % record.row,
                    _NULL if line is None else b"%d" % line,
                    _json(checked.fields),
                    _NULL if given is None else _array(given),
                    _NULL if version is None else b"%d" % version,
                    _json(shown) if shown or checked.is_refused else _NULL,
                    _json(warnings[:_MOST_PROBLEMS_A_ROW]) if warnings else _NULL,
                    _NULL if source is None else _cells(source),
                    b"error" if checked.is_refused else _NULL,
                    problems[0]["code"].encode() if checked.is_refused and problems else _NULL,
                    _NULL if sheet is None else _text(sheet),
                )
            )
            + b"\n"
        )


@lru_cache
def _known(kind: str, names: tuple[str, ...], defaulted: tuple[str, ...]) -> tuple[str, ...]:
    """Return those of some fields that an item of this kind has, and a row of a file says something of."""
    return tuple(name for name in names if name in _FIELDS[kind] and name not in defaulted)


@lru_cache
def _array(names: tuple[str, ...]) -> bytes:
    """Return names as COPY takes an array of them."""
    return b"{%b}" % ",".join(names).encode()


@lru_cache
def _text(text: str) -> bytes:
    """Return a text as COPY takes it, its control characters as blanks."""
    return re.sub(r"[\x00-\x1f]", " ", text).encode("utf-8", "replace").replace(b"\\", b"\\\\")


def _cells(cells: list[str]) -> bytes:
    text = _json(cells)
    return text if b"u0000" not in text else _json([cell.replace("\0", "") for cell in cells])


def _json(value: Any) -> bytes:
    """Return JSON as COPY takes it; half a surrogate pair, which only refused cells can have, becomes a mark."""
    try:
        text = orjson.dumps(value, option=orjson.OPT_UTC_Z)
    except TypeError:
        text = orjson.dumps(_mended(value), option=orjson.OPT_UTC_Z, default=str)
    return text.replace(b"\\", b"\\\\")


def _mended(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, Mapping):
        return {_mended(str(key)): _mended(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [_mended(member) for member in value]
    return value


def _remarks(remarks: Iterable[Remark]) -> list[dict[str, Any]]:
    return [_problem(one.column, one.code, one.message) for one in remarks]


def _problem(name: str | None, code: str, message: str, value: Any = None) -> dict[str, Any]:
    problem = {"name": name, "code": code, "message": message.replace("\0", "")}
    if value is not None:
        shown = value if isinstance(value, str) else orjson.dumps(_mended(value), default=str).decode()
        problem["value"] = shown.replace("\0", "")[:_MOST_SHOWN]
    return problem


def _of_validation(error: ValidationError) -> list[dict[str, Any]]:
    problems = []
    for entry in error.errors(include_url=False)[:_MOST_PROBLEMS_A_ROW]:
        steps = [str(step) for step in entry["loc"] if step != "[key]"]
        message = sentence_at(entry, entry["loc"])
        code = entry["type"]
        if code in {"enum", "literal_error"}:
            code = "not_one_of"
            allowed = [word.strip(" '") for word in entry["ctx"]["expected"].replace(" or ", ", ").split(",")]
            meant = nearest(str(entry["input"]), allowed)
            message += f" Did you mean {meant}?" if meant else ""
        problems.append(_problem(".".join(steps) or None, code, message, entry["input"]))
    return problems


def _wrong_end(name: str, end: Mapping[str, str], kind: str) -> dict[str, Any] | None:
    key = end.get("id") or end.get("external_id")
    if not key or not str(key).strip():
        return _problem(name, MISSING, f"This is missing; a {kind} needs both its ends.")
    if "id" in end:
        try:
            UUID(str(key))
        except ValueError:
            return _problem(name, f"{name}_not_found", "This is no id of an item.", key)
    return None


def _unstorable(fields: Mapping[str, Any], most: int) -> list[dict[str, Any]]:
    """Return a problem for each field that no request could have either: NUL, too deep, too many, out of range."""
    problems = []
    try:
        is_suspicious = b"\\u0000" in orjson.dumps(fields)
    except TypeError:
        is_suspicious = True
    for name, value in fields.items():
        if is_suspicious or name in JSON_FIELDS:
            try:
                strict_json.check(value, most=most)
            except Invalid as error:
                problems += [_problem(name, one.code, one.message) for one in error.errors]
    return problems


def _is_storable(value: Any, most: int) -> bool:
    try:
        strict_json.check(value, most=most)
    except Invalid:
        return False
    return True
