"""Lists: `skip` and `limit`, the envelope, the RFC 8288 Link header, sorting and filters."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Any, Generic, TypeVar
from urllib.parse import quote

import orjson
from fastapi import Query, Request, Response
from pydantic import BaseModel

from chassis.http.responses import answer
from chassis.problems import FieldError, Invalid

MAX_SKIP = 2**31 - 1

Skip = Annotated[int, Query(ge=0, le=MAX_SKIP, description="How many items to leave out at the start.")]
Limit = Annotated[int, Query(ge=1, le=500, description="How many items to give at most.")]

T = TypeVar("T")
E = TypeVar("E", bound=StrEnum)


class Page(BaseModel, Generic[T]):
    """One page of a list, for the OpenAPI document."""

    items: list[T]
    total: int
    skip: int
    limit: int


def page(
    request: Request,
    items: Sequence[Any] | orjson.Fragment,
    total: int,
    skip: int,
    limit: int,
    extra: Mapping[str, Any] | None = None,
) -> Response:
    """Give one page of a list, its items as they are or as JSON; `extra` are further members of the envelope."""
    body = {"items": items, "total": total, "skip": skip, "limit": limit, **(extra or {})}
    links = _links(request, total, skip, limit)
    return answer(body, headers={"Link": links} if links else None)


def _links(request: Request, total: int, skip: int, limit: int) -> str:
    kept = [
        pair
        for pair in request.scope["query_string"].decode("latin-1").split("&")
        if pair and pair.partition("=")[0] not in {"skip", "limit"}
    ]
    # What the caller sent stays as it is, but for what would end the address in the header.
    base = quote(f"{request.scope['path']}?{''.join(f'{pair}&' for pair in kept)}", safe="/?=&%+,:!;@$'()*~-._[]")
    links = []
    if skip + limit < total:
        links.append(f'<{base}skip={skip + limit}&limit={limit}>; rel="next"')
    if skip > 0:
        links.append(f'<{base}skip={max(0, skip - limit)}&limit={limit}>; rel="prev"')
    return ", ".join(links)


@dataclass(frozen=True, slots=True)
class Sort:
    """A column to sort by and its direction."""

    field: str
    descending: bool


def parse_sort(value: str, allowed: Sequence[str]) -> Sort:
    """Read `field`, `field:asc` or `field:desc`; raise Invalid for anything else."""
    name, _, direction = value.partition(":")
    if name not in allowed or direction not in {"", "asc", "desc"}:
        choices = ", ".join(allowed)
        raise Invalid.field("/query/sort", f"Sort by one of {choices}, with :asc or :desc.", "unknown_sort")
    return Sort(name, direction == "desc")


@dataclass(frozen=True, slots=True)
class Choice(Generic[T]):
    """Alternatives of a filter: one of `included` (any, when empty) and none of `excluded`."""

    included: tuple[T, ...]
    excluded: tuple[T, ...]


def parse_choice(name: str, value: str | None, kind: type[E]) -> Choice[E] | None:
    """Read `a,b` (alternatives) and `!a,!b` (exclusions) of enumeration `kind`; None when not given.

    Raises Invalid for a value outside the enumeration.
    """
    if value is None:
        return None
    included: list[E] = []
    excluded: list[E] = []
    errors: list[FieldError] = []
    for word in value.split(","):
        bare = word.strip()
        target = excluded if bare.startswith("!") else included
        try:
            target.append(kind(bare.removeprefix("!")))
        except ValueError:
            allowed = ", ".join(kind)
            errors.append(FieldError(f"/query/{name}", f"{bare[:100]!r} is none of {allowed}.", "unknown_value"))
    if errors:
        raise Invalid.fields(errors)
    return Choice(tuple(included), tuple(excluded))


def parse_words(value: str | None) -> Choice[str] | None:
    """Read `a,b` and `!a` of free text; None when not given."""
    if value is None:
        return None
    words = [word.strip() for word in value.split(",")]
    return Choice(
        tuple(word for word in words if not word.startswith("!")),
        tuple(word[1:] for word in words if word.startswith("!")),
    )


def parse_expand(value: str | None, allowed: Collection[str]) -> frozenset[str]:
    """Return what `expand=a,b` asks for, nothing when it is not given; raise Invalid for what is not in `allowed`."""
    if value is None:
        return frozenset()
    words = [word.strip() for word in value.split(",")]
    known = ", ".join(sorted(allowed))
    errors = [
        FieldError(
            "/query/expand", f"{word[:100]!r} cannot be expanded here; what can be is: {known}.", "unknown_value"
        )
        for word in words
        if word not in allowed
    ]
    if errors:
        raise Invalid.fields(errors)
    return frozenset(words)


_MOMENT = re.compile(
    r"(?P<day>\d{4}-\d\d-\d\d)"
    r"(?:[Tt ](?P<time>\d\d:\d\d:\d\d)(?P<fraction>\.\d{1,9})?(?:[Zz]|(?P<sign>[-+ ])(?P<offset>\d\d:\d\d)))?",
    re.ASCII,
)


def parse_moment(name: str, value: str) -> datetime:
    """Return the moment in UTC that query parameter `name` gives: an RFC 3339 timestamp, or a day for its midnight UTC.

    The "+" of an offset may have become a blank, as it does in an address in which it is not percent-encoded.
    Raises Invalid for anything else.
    """
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
        f"{value[:100]!r} is no moment. Give a day such as 2026-01-31 (its midnight, UTC)"
        " or a time with its offset such as 2026-01-31T12:00:00Z.",
        "invalid_moment",
    )
