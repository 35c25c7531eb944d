"""Lists: a query model, and one page of rows with their total in one query."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Annotated, Any, Generic, NamedTuple, TypeVar, get_args
from urllib.parse import quote

from fastapi import Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel, Field, ValidationError

from chassis.core.problems import Invalid
from chassis.db.database import Connection
from chassis.web.conditions import Conditions
from chassis.web.keyset import Order, Values, read, written
from chassis.web.parameters import parse_fields
from chassis.web.responses import ListAnswer

Row = dict[str, Any]

MAX_SKIP = 2**31 - 1

Skip = Annotated[int, Query(ge=0, le=MAX_SKIP, description="How many items to leave out at the start.")]
Limit = Annotated[int, Query(ge=1, le=500, description="How many items to give at most.")]
After = Annotated[
    str | None,
    Field(
        description="The position behind which the page begins, `next_after` of the page before: whatever others add"
        " or delete meanwhile, no row is left out or comes twice. Instead of `skip`; filters and `sort` stay the same.",
    ),
]

Fields = Annotated[
    str | None,
    Field(description="Members of the rows, with commas between them, such as id,title: rows then have only these."),
]
Ids = Annotated[str | None, Field(description="Only rows with these ids: at most 500, with commas between them.")]
NextAfter = Annotated[str | None, Field(description="`after` of the next page; null on the last.")]

LARGEST_PAGE = 32 * 1024 * 1024
"""Bytes of the texts of its rows; a page of one row may have more."""
_SHORT = 2000
"""Bytes above which PostgreSQL stores what it has compressed."""

T = TypeVar("T")
Q = TypeVar("Q", bound=BaseModel)


def read_query(request: Request, model: type[Q]) -> Q:
    """Return the query of a request as `model`; raises RequestValidationError, which becomes a 422.

    FastAPI's own way costs as much as the list's SQL. Parameters that `documented` does not name, the route refuses.
    """
    try:
        return model.model_validate(dict(request.query_params))
    except ValidationError as error:
        raise RequestValidationError(
            [{**entry, "loc": ("query", *entry["loc"])} for entry in error.errors(include_url=False)]
        ) from None


class PositionQuery(BaseModel):
    """What every list takes: which page of it is asked for."""

    skip: Skip = 0
    limit: Limit = 50
    after: After = None

    def chosen_fields(self, request: Request) -> frozenset[str] | None:
        """Return the members of rows that are asked for, None for all."""
        return None

    def page(self, request: Request, order: Order, searched: str = "") -> "PageRequest":
        """Return the page that is asked for; raise Invalid for a position that is none of this list in this order.

        `searched` is what else says where a row is: another search has other positions.
        """
        of = f"{request.scope['path']} {searched}"
        if self.after is None:
            by_skip = "skip" in self.model_fields_set
            return PageRequest(order, self.limit, self.skip, None, of, by_skip, self.chosen_fields(request))
        if "skip" in self.model_fields_set:
            message = "Send `skip` or `after`, not both: `after` goes on behind a row, however many are before it."
            raise Invalid.field("/query/skip", message, "contradiction")
        position = read(self.after, order, of)
        return PageRequest(order, self.limit, 0, position, of, fields=self.chosen_fields(request))


class PageQuery(PositionQuery):
    """What every list of rows takes: which page of it is asked for, and what of its rows."""

    fields: Fields = None

    def chosen_fields(self, request: Request) -> frozenset[str] | None:
        """Return the members of rows that are asked for, None for all; raise Invalid for what they do not have."""
        return None if self.fields is None else parse_fields(self.fields, _members(request.scope["route"]))


def _members(route: APIRoute) -> Sequence[str]:
    """Return the members of the rows of the list that a route answers with."""
    (row,) = get_args(route.response_model.model_fields["items"].annotation)
    return tuple(row.model_fields)


def documented(model: type[BaseModel], leave_out: Collection[str] = ()) -> dict[str, Any]:
    """Return the `openapi_extra` of a route that reads its query as `model`, without the members `leave_out`."""
    document = model.model_json_schema()
    parameters = []
    # What narrows a list comes first, what every list takes last.
    for name in sorted(document["properties"], key=PageQuery.model_fields.keys().__contains__):
        if name in leave_out:
            continue
        member = document["properties"][name]
        schema = _inlined(member, document.get("$defs", {}))
        needed = name in document.get("required", ())
        parameter = {"name": name, "in": "query", "required": needed, "schema": schema}
        if "description" in member:
            parameter["description"] = schema.pop("description")
        parameters.append(parameter)
    return {"parameters": parameters}


def documented_body(*models: type[BaseModel]) -> dict[str, Any]:
    """Return the `openapi_extra` of a route that reads its JSON body itself, as one of these models."""
    documents = [model.model_json_schema() for model in models]
    schemas = [
        _inlined({name: value for name, value in document.items() if name != "$defs"}, document.get("$defs", {}))
        for document in documents
    ]
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": {"anyOf": schemas}}}}}


def _inlined(schema: Any, definitions: dict[str, Any]) -> Any:
    """Return a schema with what it refers to in it: the model's definitions are nowhere in the whole document."""
    if isinstance(schema, list):
        return [_inlined(one, definitions) for one in schema]
    if not isinstance(schema, dict):
        return schema
    # What tells kinds apart names definitions, too, and says nothing that their schemas do not.
    inlined = {
        key: _inlined(value, definitions) for key, value in schema.items() if key not in {"$ref", "discriminator"}
    }
    if "$ref" in schema:
        return {**_inlined(definitions[schema["$ref"].rpartition("/")[2]], definitions), **inlined}
    return inlined


def size_of(columns: Sequence[str]) -> str:
    """Return the SQL of about how many bytes some columns of texts and JSON have, which are next to none to ask for.

    What is short is counted as it is stored; of a long text, its length is known without reading it.
    """
    sizes = [
        f"coalesce(CASE WHEN pg_column_size({one}) > {_SHORT} THEN octet_length({one}::text) END,"
        f" pg_column_size({one}), 0)"
        for one in columns
    ]
    return f"({' + '.join(sizes) or '0'})"


def check_size(fitting: int, rows: int) -> None:
    """Raise Invalid for a page of so many rows, of which those that fit into LARGEST_PAGE are fewer."""
    if max(fitting, 1) < rows:
        raise Invalid(
            f"The first {rows} rows here have more than {LARGEST_PAGE >> 20} MiB of text: ask for fewer,"
            f" limit={max(fitting, 1)}, or without their texts, such as fields=id,title.",
            code="page_too_large",
        )


@dataclass(frozen=True, slots=True)
class PageRequest:
    """Which page of a list is asked for: `limit` rows (None: all) behind the first `skip`, or behind `after`."""

    order: Order
    limit: int | None
    skip: int = 0
    after: Values | None = None
    of: str = ""
    """What its positions are of: the list, and what is searched for."""
    by_skip: bool = False
    """Whether the caller has named `skip`, and so goes on by it."""
    fields: frozenset[str] | None = None
    """The members of rows that are asked for, None for all."""

    def found(self, rows: list[Any], total: int) -> "Fetched":
        """Return the page of these rows, which `rows` gave, of so many in all."""
        if not self.has_more(len(rows), total) or not rows:
            return Fetched(rows, total, None)
        rows = rows[: self.limit]
        return Fetched(rows, total, self.order.position(rows[-1]))

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of `rows`. Whether anything is behind a position, the total does not tell: a row more does."""
        return {"skip": self.skip} if self.after is None else self.order.parameters(self.after)

    def rows(self, source: str, conditions: Conditions, columns: str = "*") -> str:
        """Return the query of `columns` of the page's rows FROM `source`, `table alias` or `table`.

        The limit is no parameter: PostgreSQL keeps the plan of a query only if it knows how few rows are asked for.
        """
        if self.after is None:
            limit = "" if self.limit is None else f"LIMIT {self.limit:d}"
            offset = "OFFSET %(skip)s" if self.skip else ""
            return f"SELECT {columns} FROM {source} {conditions.where} ORDER BY {self.order.sql} {limit} {offset}"
        assert self.limit is not None, "only a page has a position"
        limit = f"LIMIT {self.limit + 1:d}"
        parts = " UNION ALL ".join(
            f"(SELECT * FROM {source} WHERE {behind}{conditions.also} ORDER BY {order} {limit})"
            for behind, order in self.order.behind(self.after)
        )
        return f"SELECT {columns} FROM ({parts}) {source.split()[-1]} ORDER BY {self.order.sql} {limit}"

    def has_more(self, rows: int, total: int) -> bool:
        """Check whether anything is behind a page, of which so many rows were read."""
        if self.limit is None:
            return False
        return self.skip + rows < total if self.after is None else rows > self.limit


class Fetched(NamedTuple):
    """A page of a list: its rows, or their JSON; how many there are in all; where it ends, unless it is the last."""

    rows: Any
    total: int
    end: Values | None


async def fetch_page(
    connection: Connection,
    columns: str,
    source: str,
    conditions: Conditions,
    wanted: PageRequest,
    total: str | None = None,
    joined: str = "",
    common: str = "",
) -> Fetched:
    """Return one page of `columns` FROM `source`, `table alias`, and how many rows there are in all.

    Args: `total` is a query for that where counting can be spared. `joined` are joins that give each row exactly
    one: made for the rows of the page only. `common` is a WITH clause before all. The rows
    are dictionaries, of which the caller knows the type.
    """
    counts = f"SELECT ({total or f'SELECT count(*) FROM {source} {conditions.where}'}) AS total"
    found, _ = await fetch_page_and_counts(connection, counts, columns, source, conditions, wanted, joined, common)
    return found


async def fetch_page_and_counts(
    connection: Connection,
    counts: str,
    columns: str,
    source: str,
    conditions: Conditions,
    wanted: PageRequest,
    joined: str = "",
    common: str = "",
) -> tuple[Fetched, Row]:
    """Like `fetch_page`, with the one row of the query `counts`, whose columns have other names than those of the page.

    One of these is `total`. The page is chosen before anything is joined: rows that are skipped cost next to nothing.
    """
    cursor = connection.cursor(binary=True)
    await cursor.execute(
        f"""
        {common} SELECT counted.*, page.* FROM ({counts}) counted
        LEFT JOIN LATERAL (
            SELECT true AS is_row, {columns} FROM ({wanted.rows(source, conditions)}) {source.split()[-1]}
            {joined} ORDER BY {wanted.order.sql}
        ) page ON true
        """,
        {**conditions.parameters, **wanted.parameters},
        prepare=conditions.prepare,
    )
    rows = await cursor.fetchall()
    counted = {name: rows[0][name] for name in takewhile(lambda name: name != "is_row", rows[0])}
    if not rows[0]["is_row"]:  # beyond the last row, the counts stand alone
        return Fetched([], counted["total"], None), counted
    for row in rows:
        for name in (*counted, "is_row"):
            del row[name]
    return wanted.found(rows, counted["total"]), counted


class Page(BaseModel, Generic[T]):
    """One page of a list, for the OpenAPI document."""

    items: list[T]
    total: int
    skip: int
    limit: int
    next_after: NextAfter


def page(
    request: Request,
    wanted: PageRequest,
    found: Fetched,
    items: Sequence[Any] | None = None,
    extra: Mapping[str, Any] | None = None,
) -> Response:
    """Return a page of a list, its rows as they were found or as `items`; `extra` are more members of the envelope."""
    rows = found.rows if items is None else items
    if wanted.fields is not None and isinstance(rows, list):
        rows = [{name: value for name, value in row.items() if name in wanted.fields} for row in rows]
    more = {"total": found.total, **envelope(wanted, found), **(extra or {})}
    return ListAnswer(rows, more, link_header(request, wanted, found))


def envelope(wanted: PageRequest, found: Fetched) -> Row:
    """Return the members of a list that say which page it is of, and where the next begins."""
    after = None if found.end is None else written(found.end, wanted.order, wanted.of)
    return {"skip": wanted.skip, "limit": wanted.limit, "next_after": after}


def link_header(request: Request, wanted: PageRequest, found: Fetched) -> dict[str, str] | None:
    """Return the header (RFC 8288) that leads to the next page and, for those who go by `skip`, to the one before."""
    assert wanted.limit is not None, "a list that is answered has pages"
    others = [
        pair
        for pair in request.scope["query_string"].decode("latin-1").split("&")
        if pair and pair.partition("=")[0] not in {"skip", "limit", "after"}
    ]
    # What the caller sent stays as it is, but for what would end the address in the header.
    base = quote(f"{request.scope['path']}?{''.join(f'{pair}&' for pair in others)}", safe="/?=&%+,:;!@$'()*~-._[]")
    skip, limit = wanted.skip, wanted.limit
    links = []
    if wanted.by_skip and skip + limit < found.total:
        links.append(f'<{base}skip={skip + limit}&limit={limit}>; rel="next"')
    if wanted.by_skip and skip > 0:
        links.append(f'<{base}skip={max(0, skip - limit)}&limit={limit}>; rel="prev"')
    if not wanted.by_skip and found.end is not None:
        after = written(found.end, wanted.order, wanted.of)
        links.append(f'<{base}after={after}&limit={limit}>; rel="next"')
    return {"Link": ", ".join(links)} if links else None
