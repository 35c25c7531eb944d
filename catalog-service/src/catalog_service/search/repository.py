"""The search itself, in SQL."""

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from catalog_service.search.query import SearchQuery
from chassis.db.database import Connection
from chassis.web.listing import Conditions, Row

_TABLES = {"requirement": "requirements", "test_case": "test_cases"}

_EXCERPT_FROM = 20_000
"""What is searched beyond it is not searched for an excerpt: finding the words again costs as much as parsing."""
_RANKED_TOGETHER = 1000
"""To rank a hit takes as long as to find ten: of more than so many, each such number by age is ranked by itself."""
_COUNTED = 10_000
"""Every hit has to be looked at to be counted: of a word that all items have it would be all items, for each search."""

_MANY_OF_1000 = 70
"""From so many hits among the newest thousand items on, more of the newest are found sooner by looking through them."""
_AS_FAR = 3
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
    skip: int,
    limit: int,
    narrowed: Conditions | None = None,
    *,
    best_first: bool = True,
) -> tuple[list[Hit], int]:
    """Return (hits of a page, total), best first.

    An item whose external_id is the query (whatever the case) comes first, then those whose external_id begins
    with it, then the rest by rank. Of more than a thousand hits, the newest thousand come first, ranked, then the
    next thousand, and so on. Hits are counted up to ten thousand, or to the first one behind the page.

    Args: `narrowed` are conditions that hits must fulfil, too. Not `best_first`: each thousand begins with the worst.
    """
    first = skip - skip % _RANKED_TOGETHER
    most = max(_COUNTED, skip + limit + 1)
    together = _RANKED_TOGETHER * (2 if skip + limit > first + _RANKED_TOGETHER else 1)
    fulfilled = narrowed or Conditions()
    direction = "DESC" if best_first else "ASC"
    cursor = await connection.execute(
        f"""
        WITH {", ".join(_looked_through(kind, kinds[:place], fulfilled.also) for place, kind in enumerate(kinds))},
        counted AS MATERIALIZED (SELECT {" + ".join(f"(SELECT n FROM counted_{kind})" for kind in kinds)} AS found),
        named AS MATERIALIZED ({" UNION ALL ".join(_named(kind, fulfilled.also) for kind in kinds)}),
        newest AS ({" UNION ALL ".join(_newest(kind, fulfilled.also) for kind in kinds)} UNION ALL TABLE named),
        near AS MATERIALIZED (
            SELECT *, row_number() OVER (ORDER BY level DESC, created_at DESC, type, id) > %(ranked)s AS later
            FROM (SELECT * FROM newest ORDER BY level DESC, created_at DESC, type, id
                  LIMIT %(near)s OFFSET %(first)s) AS nearest
        )
        SELECT least(counted.found, %(most)s) AS total, page.* FROM counted
        LEFT JOIN (
            SELECT * FROM ({" UNION ALL ".join(_ranked(kind) for kind in kinds)}) AS ranked
            ORDER BY later, score {direction}, type, id LIMIT %(limit)s OFFSET %(skip)s
        ) AS page ON true
        ORDER BY later, score {direction}, type, id
        """,
        {
            **parameters(query),
            **fulfilled.parameters,
            "exact": query.exact,
            "skip": skip - first,
            "limit": limit,
            "first": first,
            "ranked": _RANKED_TOGETHER,
            "near": together,
            "newest": first + together,
            "most": most,
            "far": _AS_FAR * most + 1,
        },
        # How often its words occur decides how it is best done.
        prepare=False,
    )
    rows = await cursor.fetchall()
    total: int = rows[0]["total"]
    return [Hit(row["type"], row["id"], row["score"]) for row in rows if row["id"] is not None], total


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
        f"SELECT '{kind}' AS type, id, created_at, {level} AS level FROM {source or _TABLES[kind]}"
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


def _named(kind: str, also: str) -> str:
    """The newest hits by their external_id, of a kind that has many hits."""
    return " UNION ALL ".join(
        f"({_hits(kind, level, also)} AND (SELECT many FROM counted_{kind}) ORDER BY created_at DESC, id"
        " LIMIT %(newest)s)"
        for level in _LEVELS
        if level > 0
    )


def _newest(kind: str, also: str) -> str:
    """All hits of a kind, or of one that has many the newest by their words."""
    return f"""
        SELECT * FROM hits_{kind} WHERE NOT (SELECT many FROM counted_{kind})
        UNION ALL ({_hits(kind, 0, "", _from_the_newest_on(kind, also))} AND (SELECT many FROM counted_{kind})
                   AND (SELECT count(*) < %(newest)s FROM named) LIMIT %(newest)s)
    """


def _from_the_newest_on(kind: str, also: str, limit: str = "OFFSET 0") -> str:
    """The items of a kind in this order, whatever else is asked: hits of which there are many are found soon so.

    The planner is not to choose: it cannot tell how many items have a word by its beginning, or one of its forms.
    """
    return f"(SELECT * FROM {_TABLES[kind]} WHERE true{also} ORDER BY created_at DESC, id {limit}) AS newest_first"


def _ranked(kind: str) -> str:
    """Whole words rank higher than those that only begin with what was typed."""
    return f"""
        SELECT near.type, near.id, later, level + (ts_rank(i.search, %(condition)s::tsquery, 32)
            + ts_rank(i.search, %(exact)s::tsquery, 32))::double precision / 2 AS score
        FROM near JOIN {_TABLES[kind]} i ON i.id = near.id AND near.type = '{kind}'
    """
