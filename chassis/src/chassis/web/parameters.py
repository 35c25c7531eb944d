"""What the parameters of lists mean: alternatives of a filter, ids, moments, the order, what is expanded."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Generic, TypeVar
from uuid import UUID

from pydantic import Field

from chassis.core.problems import FieldError, Invalid
from chassis.core.wording import A_MOMENT, listed, nearest, no_such_value, no_uuid, shown
from chassis.web.keyset import By, Order

T = TypeVar("T")
E = TypeVar("E", bound=StrEnum)


@dataclass(frozen=True, slots=True)
class Sort:
    """A column to sort by and its direction."""

    field: str
    descending: bool

    def order(self, columns: Mapping[str, By], last: By) -> Order:
        """Return the order that it is: the column that `columns` has for its field, ties in the order of `last`."""
        by = replace(columns[self.field], descending=self.descending)
        return Order(f"{self.field}:{'desc' if self.descending else 'asc'}", (by, last))


def parse_sort(value: str, allowed: Sequence[str]) -> Sort:
    """Read `field`, `field:asc` or `field:desc`; raise Invalid for anything else."""
    name, _, direction = value.partition(":")
    if name not in allowed or direction not in {"", "asc", "desc"}:
        message = f"It is not possible to sort by {shown(value)}; sort by {listed(allowed)}, with :asc or :desc."
        raise Invalid.field("/query/sort", message, "unknown_sort")
    return Sort(name, direction == "desc")


@dataclass(frozen=True, slots=True)
class Choice(Generic[T]):
    """Alternatives of a filter: one of `included` (any, when empty) and none of `excluded`."""

    included: tuple[T, ...]
    excluded: tuple[T, ...]


ALTERNATIVES = "comma-separated alternatives; a leading ! excludes"
"""How the filter of a closed list is written, for the descriptions of parameters."""
FREE_ALTERNATIVES = (
    f'{ALTERNATIVES}; a value with a comma, or with a blank, ! or " at its ends, is quoted: "Doors, left"'
    ' (and a " in it doubled); "" is no value'
)
"""How the filter of a free text is written."""
ALTERNATIVES_OF = "x-alternatives"
"""The member of a parameter's schema that has the closed list which its alternatives are from."""


def alternatives(kind: type[StrEnum], about: str = "") -> Any:
    """Return the pydantic Field of a filter that `parse_choice` reads; `about` stands before how it is written."""
    values = list(kind)
    return Field(
        description=f"{about}{', '.join(values)}: {ALTERNATIVES}",
        examples=[",".join(values[:2]), f"!{values[0]}"],
        json_schema_extra={ALTERNATIVES_OF: [*values]},
    )


def sorts(fields: Sequence[str], about: str = "") -> Any:
    """Return the pydantic Field of a `sort` that `parse_sort` reads: one of `fields`, with its direction or without."""
    directed = [f"{field}{direction}" for field in fields for direction in ("", ":asc", ":desc")]
    return Field(
        description=f"{about}{', '.join(fields)}; with :asc (the default) or :desc",
        examples=directed[:1],
        json_schema_extra={"enum": [*directed]},
    )


MAX_VALUES = 1000
_MOST_ERRORS = 10
_VALUE = re.compile(r'\s*(?P<excluded>!?)\s*(?:"(?P<quoted>(?:[^"]|"")*+)"\s*|(?P<bare>[^,]*))(?P<end>,|\Z)')


def parse_choice(name: str, value: str | None, kind: type[E]) -> Choice[E] | None:
    """Return the alternatives and exclusions that filter `name` of enumeration `kind` asks for; None when not given.

    Raises Invalid for a value outside the enumeration, and for what `parse_words` refuses.
    """
    if value is None:
        return None
    words = _words(name, value)
    allowed = set(kind)
    unknown = [word for word in (*words.included, *words.excluded) if word not in allowed]
    if unknown:
        raise Invalid.fields(
            [
                FieldError(f"/query/{name}", no_such_value(name, word, list(kind)), "unknown_value")
                for word in unknown[:_MOST_ERRORS]
            ]
        )
    return Choice(tuple(map(kind, words.included)), tuple(map(kind, words.excluded)))


def parse_ids(name: str, value: str | None) -> Choice[UUID] | None:
    """Return the ids that filter `name` asks for and those it excludes; None when not given.

    Raises Invalid for what is no UUID, and for what `parse_words` refuses.
    """
    if value is None:
        return None
    words = _words(name, value)
    return Choice(_ids(name, words.included), _ids(name, words.excluded))


_MOST_IDS = 500


def parse_own_ids(value: str | None) -> Choice[UUID] | None:
    """Return the ids of rows that `ids=` asks for, None when not given; raise Invalid for others, and over 500."""
    return None if value is None else Choice(_ids("ids", _own(value)), ())


def parse_own_numbers(value: str | None) -> Choice[int] | None:
    """Like `parse_own_ids`, where ids are numbers."""
    if value is None:
        return None
    words = _own(value)
    for word in words:
        if not re.fullmatch("[0-9]{1,18}", word):
            raise Invalid.field("/query/ids", f"{shown(word)} is no id: ids are numbers here, such as 7.", "invalid_id")
    return Choice(tuple(map(int, words)), ())


def _own(value: str) -> tuple[str, ...]:
    words = _words("ids", value, most=_MOST_IDS)
    # Without some ids is with all others: that is no list of ids.
    return (*words.included, *(f"!{word}" for word in words.excluded))


def parse_names(
    name: str, value: str, allowed: Collection[str], refusal: Callable[[str], str], code: str = "unknown_value"
) -> frozenset[str]:
    """Return the names that parameter `name` lists; raise Invalid for an empty one and for what is not in `allowed`.

    `refusal` is what to say of a name that there is not, and `code` the code of that.
    """
    words = [word.strip() for word in value.split(",")]
    errors = [
        FieldError(f"/query/{name}", refusal(word), code) if word else _empty(name)
        for word in dict.fromkeys(words)
        if word not in allowed
    ]
    if errors:
        raise Invalid.fields(errors[:_MOST_ERRORS])
    return frozenset(words)


def _empty(name: str) -> FieldError:
    left_out = "have all" if name != "expand" else "have nothing more"
    return FieldError(f"/query/{name}", f"A value is empty; leave {name} out to {left_out}.", "empty_value")


def parse_fields(value: str, allowed: Sequence[str]) -> frozenset[str]:
    """Return the members of rows that `fields=a,b` asks for; raise Invalid for what is not in `allowed`."""
    return parse_names(
        "fields",
        value,
        allowed,
        lambda word: f"These rows have no {shown(word)}{_or_rather(word, allowed)}",
        "unknown_field",
    )


def _or_rather(word: str, allowed: Sequence[str]) -> str:
    meant = nearest(word, allowed)
    return f"; there is: {', '.join(allowed)}." if meant is None else f"; did you mean {shown(meant)}?"


def parse_words(name: str, value: str | None) -> Choice[str] | None:
    """Return the texts that filter `name` asks for and those it excludes, each once; None when not given.

    `value` is written as `FREE_ALTERNATIVES` says. An empty text stands for those without a value: no field holds one.
    Raises Invalid for an empty value without quotes, for a quote that is not closed or not followed by a comma, and
    for more than `MAX_VALUES` values.
    """
    return None if value is None else _words(name, value, f', or write {name}="" for those that have none')


def _words(name: str, value: str, or_none: str = "", most: int = MAX_VALUES) -> Choice[str]:
    """Read a filter; `or_none` says how to ask for those without a value, where some may have none."""
    included: dict[str, None] = {}
    excluded: dict[str, None] = {}
    at = 0
    while True:
        found = _VALUE.match(value, at)
        assert found is not None, "a bare value takes what is there up to the next comma"
        word = found["bare"].rstrip() if found["quoted"] is None else found["quoted"].replace('""', '"')
        if found["quoted"] is None and (not word or word.startswith('"')):
            raise _unreadable(name, word, value[found.start("bare") :], or_none)
        (excluded if found["excluded"] else included)[word] = None
        if not found["end"]:
            break
        at = found.end()
    if len(included) + len(excluded) > most:
        message = f"At most {most} values are taken; these are {len(included) + len(excluded)}: ask for them in parts."
        raise Invalid.field(f"/query/{name}", message, "too_many_values")
    return Choice(tuple(included), tuple(excluded))


def _unreadable(name: str, word: str, rest: str, or_none: str) -> Invalid:
    """Return what is wrong with an unquoted value that is empty or begins with a quote; `rest` begins with it."""
    if not word:
        message = f"A value is empty; leave {name} out to have all{or_none}."
        code = "empty_value"
    elif re.match('"(?:[^"]|"")*+"', rest):
        message = f'After the quotes of {shown(word)} comes a comma or the end. A " in a value is written twice.'
        code = "malformed_value"
    else:
        message = f'The quotes of {shown(rest)} are not closed: end the value with ". A " in it is written twice.'
        code = "malformed_value"
    return Invalid.field(f"/query/{name}", message, code)


def _ids(name: str, words: tuple[str, ...]) -> tuple[UUID, ...]:
    ids = []
    for word in words:
        try:
            ids.append(UUID(word))
        except ValueError:
            raise Invalid.field(f"/query/{name}", no_uuid(word), "invalid_id") from None
    return tuple(ids)


def parse_expand(value: str | None, allowed: Collection[str]) -> frozenset[str]:
    """Return what `expand=a,b` asks for, nothing when it is not given; raise Invalid for what is not in `allowed`."""
    if value is None:
        return frozenset()
    known = ", ".join(sorted(allowed))
    return parse_names(
        "expand", value, allowed, lambda word: f"{shown(word)} cannot be expanded here; what can be is: {known}."
    )


_MOMENT = re.compile(
    r"(?P<day>\d{4}-\d\d-\d\d)"
    r"(?:[Tt ](?P<time>\d\d:\d\d:\d\d)(?P<fraction>\.\d{1,9})?(?:[Zz]|(?P<sign>[-+ ])(?P<offset>\d\d:\d\d)))?",
    re.ASCII,
)


UPDATED_SINCE = "Changed at or after this moment: an RFC 3339 timestamp, or a day for its midnight UTC."
"""How `updated_since` is described wherever it is taken."""


def parse_moment(name: str, value: str | None) -> datetime | None:
    """Return the moment in UTC that query parameter `name` gives: an RFC 3339 timestamp, or a day for its midnight UTC.

    None when it is left out. The "+" of an offset may have become a blank, as it does in an address in which it is
    not percent-encoded.
    Raises Invalid for anything else.
    """
    if value is None:
        return None
    try:
        if found := _MOMENT.fullmatch(value.strip()):
            # datetime keeps microseconds; a leap second is taken for the second before it.
            time = re.sub(":60$", ":59", found["time"] or "00:00:00") + (found["fraction"] or "")[:7]
            offset = f"{found['sign'].replace(' ', '+')}{found['offset']}" if found["sign"] else "+00:00"
            return datetime.fromisoformat(f"{found['day']}T{time}{offset}").astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    raise Invalid.field(
        f"/query/{name}",
        f"{shown(value)} is no moment. Give {A_MOMENT}.",
        "invalid_moment",
    )


def refuse_nothing_between(start: str, end: str, said: Mapping[str, Any], *, is_empty: bool) -> None:
    """Raise Invalid when nothing lies between two bounds; `said` has what the caller said, by their names."""
    if is_empty:
        raise Invalid.field(
            f"/query/{end}",
            f"Nothing lies between {start}, {shown(said[start])}, and {end}, {shown(said[end])}: give a larger {end}"
            f" or a smaller {start}.",
            "invalid_range",
        )
