"""Lists: `skip` and `limit`, the envelope, the RFC 8288 Link header, sorting and filters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
