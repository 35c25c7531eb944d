"""The search itself, in SQL."""

from catalog_service.listing import Row
from chassis.database import Connection

HIT_BEGINS = "\x02"
HIT_ENDS = "\x03"
"""Around hits in an excerpt; they occur nowhere else in it."""

_TABLES = {"requirement": "requirements", "test_case": "test_cases"}

_HEADLINE_OPTIONS = (
    f'StartSel="{HIT_BEGINS}", StopSel="{HIT_ENDS}", MaxFragments=2, MaxWords=24, MinWords=8, FragmentDelimiter=" … "'
)

# What is searched beyond it is not searched for an excerpt: finding the words again costs as much as parsing.
_EXCERPT_FROM = 20_000


_RANKED_TOGETHER = 1000
"""To rank a hit takes as long as to find ten: of more than so many, each such number by age is ranked by itself."""

_BEGINS = (
    "(lower(external_id) ~>=~ lower(%(text)s::text) AND lower(external_id) ~<~ (lower(%(text)s::text) || chr(1114111)))"
)
_WORDS = "websearch_to_tsquery('english', %(text)s::text)"


async def search(
    connection: Connection, text: str, kinds: tuple[str, ...], skip: int, limit: int
) -> tuple[list[Row], int]:
    """Give (hits of a page, total) for a web-search query, best first.

    An item whose external_id is the query (whatever the case) comes first, then those whose external_id begins
    with it, then the rest by rank. `score` is 2, 1 or 0 for that, plus a rank of 0..1. Of more than a thousand
    hits, the newest thousand come first, ranked, then the next thousand, and so on.
    """
    first = skip - skip % _RANKED_TOGETHER
    cursor = await connection.execute(
        f"""
        WITH prefixed AS MATERIALIZED ({" UNION ALL ".join(_prefixed(kind) for kind in kinds)}),
        hits AS MATERIALIZED (
            SELECT * FROM prefixed
            UNION ALL {" UNION ALL ".join(_worded(kind) for kind in kinds)}
        ),
        near AS MATERIALIZED (
            SELECT *, row_number() OVER (ORDER BY level DESC, created_at DESC, type, id) > %(together)s AS later
            FROM (SELECT * FROM hits ORDER BY level DESC, created_at DESC, type, id
                  LIMIT %(near)s OFFSET %(first)s) AS nearest
        ),
        page AS MATERIALIZED (
            SELECT * FROM ({" UNION ALL ".join(_ranked(kind) for kind in kinds)}) AS ranked
            ORDER BY later, score DESC, type, id LIMIT %(limit)s OFFSET %(skip)s
        )
        SELECT counted.total, found.* FROM (SELECT count(*) AS total FROM hits) AS counted
        LEFT JOIN ({" UNION ALL ".join(_found(kind) for kind in kinds)}) AS found ON true
        ORDER BY later, score DESC, type, id
        """,
        {
            "text": text,
            "skip": skip - first,
            "limit": limit,
            "first": first,
            "together": _RANKED_TOGETHER,
            "near": _RANKED_TOGETHER * (2 if skip + limit > first + _RANKED_TOGETHER else 1),
            "options": _HEADLINE_OPTIONS,
            "marks": HIT_BEGINS + HIT_ENDS,
            "excerpt_from": _EXCERPT_FROM,
        },
        # How often its words occur decides how it is best done.
        prepare=False,
    )
    rows = await cursor.fetchall()
    total: int = rows[0]["total"]
    for row in rows:
        del row["total"], row["later"]
    return [row for row in rows if row["id"] is not None], total


def _prefixed(kind: str) -> str:
    return f"""
        SELECT '{kind}' AS type, id, created_at,
               CASE WHEN lower(external_id) = lower(%(text)s::text) THEN 2 ELSE 1 END AS level
        FROM {_TABLES[kind]} WHERE {_BEGINS}
    """


def _worded(kind: str) -> str:
    """The hits that were not found by their external_id already."""
    return f"""
        SELECT '{kind}', id, created_at, 0 FROM {_TABLES[kind]}
        WHERE search @@ {_WORDS} AND id NOT IN (SELECT id FROM prefixed WHERE type = '{kind}')
    """


def _ranked(kind: str) -> str:
    return f"""
        SELECT near.type, near.id, later, level + ts_rank_cd(i.search, {_WORDS}, 32)::double precision AS score
        FROM near JOIN {_TABLES[kind]} i ON i.id = near.id AND near.type = '{kind}'
    """


def _found(kind: str) -> str:
    """What the answer tells of the page's hits of a kind."""
    return f"""
        SELECT page.type, page.id, i.external_id, i.title, i.module, i.status, page.score,
               ts_headline('english',
                           translate(concat_ws(' · ', i.title, nullif(array_to_string(i.tags, ', '), ''),
                                               left(i.description, %(excerpt_from)s)), %(marks)s, ''),
                           {_WORDS}, %(options)s) AS excerpt, page.later
        FROM page JOIN {_TABLES[kind]} i ON i.id = page.id AND page.type = '{kind}'
    """
