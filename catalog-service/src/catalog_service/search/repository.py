"""The search itself, in SQL."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, nullcontext
from typing import NamedTuple
from uuid import UUID

from catalog_service.search.query import SearchQuery
from catalog_service.search.windows import BY_AGE, Cut, Window, first_cut, next_cut
from chassis.db.database import Connection
from chassis.web.conditions import Conditions
from chassis.web.listing import Fetched, PageRequest, Row

_TABLES = {"requirement": "requirements", "test_case": "test_cases"}

_EXCERPT_FROM = 20_000
"""What is searched beyond it is not searched for an excerpt: finding the words again costs as much as parsing."""
_COUNTED = 5_000
"""Every hit has to be looked at to be counted: of a word that all items have it would be all items, for each search."""

_MANY_OF_1000 = 70
"""From so many hits among the newest thousand items on, more of the newest are found sooner by looking through them."""
_AS_FAR = 6
"""So many times what is counted is found by the index sooner than by looking through the newest for what few have."""

_IS_ID = "lower(external_id) = lower(%(text)s::text)"
_BEGINS = (
    "(lower(external_id) ~>=~ lower(%(text)s::text) AND lower(external_id) ~<~ (lower(%(text)s::text) || chr(1114111)))"
)
"""A range that ends at the last character of Unicode: a prefix search that the index can answer."""
_HAS_WORDS = "search @@ %(condition)s::tsquery"
_LEVELS = {
    2: f"{_BEGINS} AND {_IS_ID}",
    1: f"{_BEGINS} AND NOT {_IS_ID}",
    0: f"{_HAS_WORDS} AND {_BEGINS} IS NOT TRUE",
}
"""The three ways to be a hit, of which each hit has one."""
FOUND = f"({_HAS_WORDS} OR {_BEGINS})"
"""The condition that an item is a hit; its parameters are those of `parameters`."""

_ESCAPED = r"\\(u[[:xdigit:]]{4}|.)"
"""What JSON writes for characters that it cannot hold; see make_search_document_of_test_cases in the migrations."""
_TEXTS = {
    "requirement": "NULL AS steps, NULL AS preconditions, NULL AS postconditions, NULL AS test_data",
    "test_case": f"""
        CASE WHEN json_typeof(steps) = 'object'
             THEN (SELECT left(string_agg(value, ' '), %(excerpt_from)s) FROM json_each_text(steps)) END AS steps,
        left(preconditions, %(excerpt_from)s) AS preconditions,
        left(postconditions, %(excerpt_from)s) AS postconditions,
        regexp_replace(left(test_data::text, %(excerpt_from)s), '{_ESCAPED}', ' ', 'g') AS test_data
    """,
}


class Hit(NamedTuple):
    """An item that was found. `score` is 2, 1 or 0 for its level, plus a rank of 0..1."""

    type: str
    id: UUID
    score: float


def parameters(query: SearchQuery) -> dict[str, str]:
    """Return the parameters of FOUND."""
    return {"text": query.text, "condition": query.condition}


async def search(
    connection: Connection,
    query: SearchQuery,
    kinds: Sequence[str],
    wanted: PageRequest,
    narrowed: Conditions | None = None,
) -> Fetched:
    """Return a page of hits, in an order that `by_relevance` gives.

    An item whose external_id is the query (whatever the case) comes first, then those whose external_id begins
    with it, then the rest by rank. Of more than a thousand hits, the newest thousand come first, ranked, then the
    next thousand, and so on; of an order that does not begin with the best, each thousand begins with the worst. Hits
    are counted up to five thousand, or to the first one behind the page.

    Args: `narrowed` are conditions that hits must fulfil, too.
    """
    assert wanted.limit is not None, "hits are ranked page by page"
    fulfilled, cut = narrowed or Conditions(), first_cut(wanted)
    async with _workers(connection) if query.needs_texts else nullcontext():
        hits, total, window = await _read(connection, query, kinds, fulfilled, cut)
        if wanted.after is not None and (behind := next_cut(cut, len(hits))):
            more, _, next_window = await _read(connection, query, kinds, fulfilled, behind)
            hits += more
            # What there is beyond the page does not count.
            window = next_window if len(hits) - len(more) < wanted.limit else window
    if not wanted.has_more(len(hits), total):
        return Fetched(hits, total, None)
    hits = hits[: wanted.limit]
    return Fetched(hits, total, window.position((hits[-1].score, hits[-1].type, hits[-1].id)))


@asynccontextmanager
async def _workers(connection: Connection) -> AsyncIterator[None]:
    """Let PostgreSQL share what it looks through among two processes more, where there is enough for them."""
    async with connection.transaction():
        await connection.execute(
            "SELECT set_config('max_parallel_workers_per_gather', '2', true),"
            " set_config('parallel_tuple_cost', '0', true)"
        )
        yield


async def _read(
    connection: Connection, query: SearchQuery, kinds: Sequence[str], fulfilled: Conditions, cut: Cut
) -> tuple[list[Hit], int, Window]:
    """Return hits, how many there are in all, and the window that the last of these hits was ranked in."""
    most = max(_COUNTED, cut.skip + cut.limit + 1)
    by_score = cut.order.columns[-3].ordered
    cursor = await connection.execute(
        f"""
        WITH {", ".join(_looked_through(kind, kinds[:place], fulfilled.also) for place, kind in enumerate(kinds))},
        counted AS MATERIALIZED (SELECT {" + ".join(f"(SELECT n FROM counted_{kind})" for kind in kinds)} AS found),
        named AS MATERIALIZED ({" UNION ALL ".join(_named(kind, fulfilled.also, cut.window) for kind in kinds)}),
        newest AS (
            {" UNION ALL ".join(_newest(kind, fulfilled.also, cut.window) for kind in kinds)} UNION ALL TABLE named
        ),
        near AS MATERIALIZED (
            SELECT *, row_number() OVER (ORDER BY {BY_AGE.sql}) - %(before)s AS place
            FROM (SELECT * FROM newest ORDER BY {BY_AGE.sql} LIMIT %(near)s OFFSET %(first)s) AS nearest
        ),
        ages AS (
            SELECT json_agg(json_build_array(place, level, created_at, type, id)) AS ages
            FROM near WHERE place IN (0, %(ranked)s, (SELECT max(place) FROM near))
        )
        SELECT least(counted.found, %(most)s) AS total, ages.ages, page.* FROM counted CROSS JOIN ages
        LEFT JOIN (
            SELECT * FROM ({" UNION ALL ".join(_ranked(kind) for kind in kinds)}) AS ranked {cut.behind}
            ORDER BY later, {by_score}, type, id LIMIT %(limit)s OFFSET %(skip)s
        ) AS page ON true
        ORDER BY later, {by_score}, type, id
        """,
        {
            **parameters(query),
            **fulfilled.parameters,
            **cut.parameters,
            "exact": query.exact,
            "most": most,
            "far": _AS_FAR * most + 1,
        },
        # How often its words occur decides how it is best done.
        prepare=False,
    )
    rows = await cursor.fetchall()
    total, ages = rows[0]["total"], {place: tuple(age) for place, *age in rows[0]["ages"] or ()}
    if rows[0]["id"] is None:
        return [], total, cut.window
    window = cut.window_of_last(ages, later=rows[-1]["later"])
    return [Hit(row["type"], row["id"], row["score"]) for row in rows], total, window


async def texts(connection: Connection, hits: Sequence[Hit]) -> dict[UUID, Row]:
    """Return what the answer tells of hits, by id, and their texts as far as they are searched for an excerpt."""
    found: dict[UUID, Row] = {}
    for kind in {hit.type for hit in hits}:
        cursor = await connection.execute(
            f"""
            SELECT id, external_id, title, module, status, array_to_string(tags, ', ') AS tags,
                   left(description, %(excerpt_from)s) AS description, {_TEXTS[kind]}
            FROM {_TABLES[kind]} WHERE id = ANY(%(ids)s)
            """,
            {"ids": [hit.id for hit in hits if hit.type == kind], "excerpt_from": _EXCERPT_FROM},
        )
        found |= {row["id"]: row for row in await cursor.fetchall()}
    return found


def _hits(kind: str, level: int, also: str, source: str = "") -> str:
    return (
        f"SELECT '{kind}' AS type, id, created_at, {level} AS level, ctid AS stored_at FROM {source or _TABLES[kind]}"
        f" WHERE {_LEVELS[level]}{also}"
    )


def _looked_through(kind: str, before: Sequence[str], also: str) -> str:
    """The hits of a kind: all of them, or so many that they are MANY.

    What is asked of `every_KIND` is planned as if all were wanted, and ends when there are enough. When the kinds
    before have given enough to count, those of a kind that has many are left alone: the newest items tell that.
    When these have few of them, more are taken, since the newest hits may be far down.
    """
    sample = f"SELECT FROM {_from_the_newest_on(kind, also, 'LIMIT 1000')} WHERE {FOUND}"
    counted = "".join(f" - (SELECT n FROM counted_{other})" for other in before)
    enough = f"CASE WHEN (SELECT few FROM sample_{kind}) THEN %(far)s ELSE greatest(%(most)s + 1{counted}, 0) END"
    return f"""
        sample_{kind} AS MATERIALIZED (SELECT count(*) < {_MANY_OF_1000} AS few FROM ({sample}) AS newest),
        every_{kind} AS MATERIALIZED ({" UNION ALL ".join(_hits(kind, level, also) for level in _LEVELS)}),
        hits_{kind} AS MATERIALIZED (SELECT * FROM every_{kind} LIMIT {enough}),
        counted_{kind} AS MATERIALIZED (SELECT count(*) AS n, count(*) = {enough} AS many FROM hits_{kind})
    """


def _named(kind: str, also: str, window: Window) -> str:
    """The newest hits by their external_id, of a kind that has many hits."""
    return " UNION ALL ".join(
        f"({_hits(kind, level, also)}{window.inside(kind, level)} AND (SELECT many FROM counted_{kind})"
        " ORDER BY created_at DESC, id LIMIT %(newest)s)"
        for level in _LEVELS
        if level > 0
    )


def _newest(kind: str, also: str, window: Window) -> str:
    """All hits of a kind, or of one that has many the newest by their words."""
    few = f"SELECT * FROM hits_{kind} WHERE NOT (SELECT many FROM counted_{kind}){window.inside()}"
    newest = _from_the_newest_on(kind, f"{also}{window.inside(kind, 0)}")
    return f"""
        {few} UNION ALL ({_hits(kind, 0, "", newest)} AND (SELECT many FROM counted_{kind})
                   AND (SELECT count(*) < %(newest)s FROM named) LIMIT %(newest)s)
    """


def _from_the_newest_on(kind: str, also: str, limit: str = "OFFSET 0") -> str:
    """The items of a kind in this order, whatever else is asked: hits of which there are many are found soon so.

    The planner is not to choose: it cannot tell how many items have a word by its beginning, or one of its forms.
    """
    return (
        f"(SELECT ctid, * FROM {_TABLES[kind]} WHERE true{also} ORDER BY created_at DESC, id {limit}) AS newest_first"
    )


def _ranked(kind: str) -> str:
    """Whole words rank higher than those that only begin with what was typed."""
    return f"""
        SELECT near.type, near.id, place > %(ranked)s AS later, near.level + (
            ts_rank(i.search, %(condition)s::tsquery, 32)
            + ts_rank(i.search, %(exact)s::tsquery, 32))::double precision / 2 AS score
        FROM near JOIN {_TABLES[kind]} i ON i.ctid = near.stored_at AND near.type = '{kind}' AND place > 0
    """
