"""Filters, orders and facets over the fields of a project, as SQL over the table of a kind of item."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Any

from catalog_service.fields.definitions import CHOOSING, PREFIX, FieldKind, Fields, ItemName, ProjectField
from catalog_service.fields.repository import HAS_FIELDS
from chassis.core.problems import Invalid, pointer
from chassis.core.wording import nearest, no_such_value, shown
from chassis.web.conditions import Conditions, containing
from chassis.web.facets import Facet
from chassis.web.keyset import By
from chassis.web.parameters import parse_words

_LONGEST_KEY = 300
"""Characters of a value that the index has."""
_MOST_DIGITS = 30
_NUMBER = r"^-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]{1,2})?$"
_RANGED = frozenset({FieldKind.NUMBER, FieldKind.DATE})
_WRITTEN = frozenset({FieldKind.TEXT, FieldKind.PERSON, FieldKind.ADDRESS})
_COUNTED = frozenset({*CHOOSING, FieldKind.PERSON, FieldKind.YES_NO, FieldKind.TEXT})
_YES_NO = {"yes": "true", "true": "true", "no": "false", "false": "false"}
ABOUT_FILTERS = (
    "The field of the project with this key, such as field.asil=D. Comma-separated alternatives, a leading ! excludes,"
    ' "" is no value; a value with a comma is quoted. Of numbers and days also ranges: 3..8, 3.., ..8; of texts, people'
    " and addresses also what they contain: ~word; yes or no."
)


def field_of(fields: Fields, name: str, kinds: Iterable[str], where: str) -> ProjectField:
    """Return the field that `name`, `field.KEY`, names; raise Invalid, at `/query/where`, if items have none such."""
    key = name.removeprefix(PREFIX)
    own = {one: field for kind in kinds for one, field in fields.of(kind).items()}
    if key in own:
        return own[key]
    meant = nearest(key, own)
    if meant is not None:
        hint = f"did you mean {PREFIX}{meant}?"
    else:
        hint = f"there is: {', '.join(f'{PREFIX}{one}' for one in own)}." if own else "it has none."
    raise Invalid.field(pointer("query", where), f"The project has no field {shown(key)} here; {hint}", "unknown_field")


def narrow(
    conditions: Conditions, fields: Fields, kind: str, asked: Mapping[str, str], *, of_either: bool = False
) -> None:
    """Ask for what filters over fields of a kind of item, by `field.KEY`, ask for, over its table.

    `of_either`: a field that the other kind has alone finds nothing here. Raises Invalid for one that cannot be read.
    """
    for name, said in asked.items():
        key = name.removeprefix(PREFIX)
        if of_either and key in fields.by_key and key not in fields.of(kind):
            conditions.add("false", of=name)
            continue
        words = parse_words(name, said)
        assert words is not None, "it is said"
        one = _Filter(field_of(fields, name, (kind,), name), name, ItemName(kind).table)
        if words.included:
            sql, parameters = one.any_of(words.included, "in")
            conditions.add(sql, of=name, **parameters)
        if words.excluded:
            sql, parameters = one.none_of(words.excluded)
            conditions.add(sql, of=name, **parameters)


class _Filter:
    """The filter over one field."""

    def __init__(self, field: ProjectField, name: str, table: str) -> None:
        self._field = field
        self._name = name
        self._table = table
        self._text = text_of(field)
        self._parameter = f"field_{field.key}"

    def any_of(self, words: Sequence[str], suffix: str) -> tuple[str, dict[str, Any]]:
        """Return the SQL of having one of these values, and its parameters."""
        keys: list[str] = []
        wholes: list[str] = []
        fragments: list[str] = []
        parameters: dict[str, Any] = {}
        for number, word in enumerate(words):
            place = f"{self._parameter}_{suffix}_{number}"
            if word == "":
                fragments.append(f"{self._text} IS NULL")
            elif self._field.kind in _RANGED and ".." in word:
                fragments.append(self._between(word, place, parameters))
            elif self._field.kind in _WRITTEN and word.startswith("~") and len(word) > 1:
                fragments.append(f"{self._text} ILIKE %({place})s")
                parameters[place] = containing(word[1:])
            else:
                value = self._value(word)
                keys.append(f"{self._field.key}={value[:_LONGEST_KEY]}")
                wholes.append(value)
        if keys:
            names = f"{self._parameter}_{suffix}", f"{self._parameter}_{suffix}_whole"
            has = f"{HAS_FIELDS} AND field_keys(custom_metadata) && %({names[0]})s::text[]"
            parameters[names[0]] = keys
            if any(len(value) >= _LONGEST_KEY for value in wholes):
                has += f" AND {self._text} = ANY(%({names[1]})s::text[])"
                parameters[names[1]] = wholes
            fragments.append(f"({has})")
        return f"({' OR '.join(fragments)})", parameters

    def none_of(self, words: Sequence[str]) -> tuple[str, dict[str, Any]]:
        """Return the SQL of having none of these values, and its parameters."""
        some = " AND ".join([f"{self._text} IS NOT NULL"] if "" in words else [])
        values = [word for word in words if word]
        if not values:
            return some, {}
        found, parameters = self.any_of(values, "out")
        # Those that have one are found by the index, and are fewer.
        other = f"id NOT IN (SELECT id FROM {self._table} WHERE {found})"
        return f"({other}{f' AND {some}' if some else ''})", parameters

    def _between(self, word: str, place: str, parameters: dict[str, Any]) -> str:
        low, _, high = word.partition("..")
        bounds = [("low", ">=", low.strip()), ("high", "<=", high.strip())]
        compared = number_of(self._field) if self._field.kind is FieldKind.NUMBER else f'{self._text} COLLATE "C"'
        parts = []
        for name, sign, bound in bounds:
            if bound:
                value = self._value(bound)
                parameters[f"{place}_{name}"] = Decimal(value) if self._field.kind is FieldKind.NUMBER else value
                parts.append(f"{compared} {sign} %({place}_{name})s")
        if not parts:
            raise self._refusal(f"{shown(word)} says neither from where nor up to where; write 3..8, 3.. or ..8.")
        return f"({' AND '.join(parts)})"

    def _value(self, word: str) -> str:
        """Return a value as the index has it; raise Invalid for what the field cannot have."""
        match self._field.kind:
            case FieldKind.NUMBER:
                try:
                    number = Decimal(word.strip())
                except InvalidOperation:
                    number = Decimal("nan")
                if not number.is_finite() or abs(number.adjusted()) > _MOST_DIGITS:
                    raise self._refusal(f"{shown(word)} is no number, such as 4.5, and no range, such as 3..8.")
                text = f"{number:f}"
                text = text.rstrip("0").rstrip(".") if "." in text else text
                return "0" if text == "-0" else text.removeprefix("+")
            case FieldKind.DATE:
                try:
                    return date.fromisoformat(word.strip()).isoformat()
                except ValueError:
                    detail = f"{shown(word)} is no day, such as 2026-01-31, and no range, such as 2026-01-01.."
                    raise self._refusal(detail) from None
            case FieldKind.YES_NO:
                if word.lower() not in _YES_NO:
                    raise self._refusal(f"{shown(word)} is neither yes nor no.")
                return _YES_NO[word.lower()]
            case FieldKind.CHOICE | FieldKind.CHOICES if word not in self._field.choices:
                raise self._refusal(no_such_value(self._field.name, word, self._field.choices), "unknown_value")
        return word

    def _refusal(self, detail: str, code: str = "malformed_value") -> Invalid:
        return Invalid.field(pointer("query", self._name), detail, code)


def text_of(field: ProjectField) -> str:
    """Return the SQL of a value as text, NULL where an item has none."""
    return f"(custom_metadata #>> '{{fields,{field.key}}}')"


def number_of(field: ProjectField) -> str:
    """Return the SQL of a value as a number, NULL where an item has none."""
    return f"(CASE WHEN {text_of(field)} ~ '{_NUMBER}' THEN {text_of(field)}::double precision END)"


def order_of(field: ProjectField) -> By:
    """Return the column of an order by a field: choices in their order, numbers by size, all else by its text."""
    if field.kind is FieldKind.NUMBER:
        return _order_by(number_of(field), float)
    if field.kind in CHOOSING:
        first = f"CASE json_typeof(custom_metadata -> 'fields' -> '{field.key}') WHEN 'array'"
        value = f"({first} THEN custom_metadata -> 'fields' -> '{field.key}' ->> 0 ELSE {text_of(field)} END)"
        choices = ", ".join(_literal(choice) for choice in field.choices)
        return _order_by(f"array_position(ARRAY[{choices}], {value})", int)
    return _order_by(f"lower{text_of(field)}" if field.kind in _WRITTEN else text_of(field), str)


def _order_by(sql: str, kind: type) -> By:
    return By(sql, kind, nullable=True, member=sql)


def _literal(text: str) -> str:
    """Return a text as SQL has it, in a query with parameters."""
    return "'" + text.replace("'", "''").replace("%", "%%") + "'::text"


def cell_of(field: ProjectField) -> str:
    """Return the SQL of a value as the cell of a table has it, as `fields.texts` reads it again."""
    if field.kind is FieldKind.YES_NO:
        return f"(CASE {text_of(field)} WHEN 'true' THEN 'yes' WHEN 'false' THEN 'no' ELSE {text_of(field)} END)"
    if field.kind is not FieldKind.CHOICES:
        return text_of(field)
    value = f"custom_metadata #> '{{fields,{field.key}}}'"
    return (
        f"(CASE json_typeof({value}) WHEN 'array' THEN (SELECT CASE WHEN bool_and(one !~ '[;,\n]')"
        f" THEN string_agg(one, '; ') ELSE ({value})::text END FROM json_array_elements_text({value}) AS one)"
        f" ELSE {text_of(field)} END)"
    )


def facets_of(fields: Fields, kind: str) -> list[Facet]:
    """Return the facets that items of a kind can be counted by: fields whose values come again."""
    return [
        Facet(f"{PREFIX}{field.key}", _facet_value(field), many=field.kind is FieldKind.CHOICES)
        for field in fields.of(kind).values()
        if field.kind in _COUNTED
    ]


def _facet_value(field: ProjectField) -> str:
    if field.kind is not FieldKind.CHOICES:
        return text_of(field)
    value = f"custom_metadata -> 'fields' -> '{field.key}'"
    return (
        f"CASE WHEN json_typeof({value}) = 'array' AND json_array_length({value}) > 0"
        f" THEN ARRAY(SELECT json_array_elements_text({value})) ELSE ARRAY[NULL]::text[] END"
    )
