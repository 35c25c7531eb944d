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
_COUNTED = 10_000
"""Every hit has to be looked at to be counted: of a word that all items have it would be all items, for each search."""

_IS_ID = "lower(external_id) = lower(%(text)s::text)"
_BEGINS = (
    "(lower(external_id) ~>=~ lower(%(text)s::text) AND lower(external_id) ~<~ (lower(%(text)s::text) || chr(1114111)))"
)
_WORDS = "websearch_to_tsquery('english', %(text)s::text)"
_LEVELS = {
    2: f"{_BEGINS} AND {_IS_ID}",
    1: f"{_BEGINS} AND NOT {_IS_ID}",
    0: f"search @@ {_WORDS} AND {_BEGINS} IS NOT TRUE",
}
"""The three ways to be a hit, of which each hit has one."""


async def search(
    connection: Connection, text: str, kinds: tuple[str, ...], skip: int, limit: int
) -> tuple[list[Row], int]:
    """Give (hits of a page, total) for a web-search query, best first.

    An item whose external_id is the query (whatever the case) comes first, then those whose external_id begins
    with it, then the rest by rank. `score` is 2, 1 or 0 for that, plus a rank of 0..1. Of more than a thousand
    hits, the newest thousand come first, ranked, then the next thousand, and so on. Hits are counted up to ten
    thousand, or to the first one behind the page.
    """
    first = skip - skip % _RANKED_TOGETHER
    together = _RANKED_TOGETHER * (2 if skip + limit > first + _RANKED_TOGETHER else 1)
    every = [(kind, level) for level in _LEVELS for kind in kinds]
    cursor = await connection.execute(
        f"""
        WITH every AS MATERIALIZED ({" UNION ALL ".join(_hits(*one) for one in every)}),
        hits AS MATERIALIZED (SELECT * FROM every LIMIT %(most)s + 1),
        counted AS MATERIALIZED (SELECT count(*) AS found, count(*) > %(most)s AS many FROM hits),
        newest AS (
            SELECT * FROM hits WHERE NOT (SELECT many FROM counted)
            UNION ALL {" UNION ALL ".join(_newest(*one) for one in every)}
        ),
        near AS MATERIALIZED (
            SELECT *, row_number() OVER (ORDER BY level DESC, created_at DESC, type, id) > %(ranked)s AS later
            FROM (SELECT * FROM newest ORDER BY level DESC, created_at DESC, type, id
                  LIMIT %(near)s OFFSET %(first)s) AS nearest
        ),
        page AS MATERIALIZED (
            SELECT * FROM ({" UNION ALL ".join(_ranked(kind) for kind in kinds)}) AS ranked
            ORDER BY later, score DESC, type, id LIMIT %(limit)s OFFSET %(skip)s
        )
        SELECT least(counted.found, %(most)s) AS total, found.* FROM counted
        LEFT JOIN ({" UNION ALL ".join(_found(kind) for kind in kinds)}) AS found ON true
        ORDER BY later, score DESC, type, id
        """,
        {
            "text": text,
            "skip": skip - first,
            "limit": limit,
            "first": first,
            "ranked": _RANKED_TOGETHER,
            "near": together,
            "newest": first + together,
            "most": max(_COUNTED, skip + limit + 1),
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


def _hits(kind: str, level: int) -> str:
    return f"SELECT '{kind}' AS type, id, created_at, {level} AS level FROM {_TABLES[kind]} WHERE {_LEVELS[level]}"


def _newest(kind: str, level: int) -> str:
    """The newest hits, for when there are so many that it is best to look through the items from the newest on."""
    return f"({_hits(kind, level)} AND (SELECT many FROM counted) ORDER BY created_at DESC, id LIMIT %(newest)s)"


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
