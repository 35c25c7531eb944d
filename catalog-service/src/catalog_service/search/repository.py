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


async def search(
    connection: Connection, text: str, kinds: tuple[str, ...], skip: int, limit: int
) -> tuple[list[Row], int]:
    """Give (hits of a page, total) for a web-search query, best first.

    An item whose external_id is the query (whatever the case) comes first, then those whose external_id begins
    with it, then the rest by rank. `score` is 2, 1 or 0 for that, plus a rank of 0..1.
    """
    cursor = await connection.execute(
        f"""
        WITH asked AS MATERIALIZED (
            SELECT websearch_to_tsquery('english', %(text)s) AS words, lower(%(text)s) AS id_prefix
        ),
        hits AS MATERIALIZED ({" UNION ALL ".join(_hits(kind) for kind in kinds)}),
        page AS MATERIALIZED (
            SELECT * FROM hits ORDER BY score DESC, type, id LIMIT %(limit)s OFFSET %(skip)s
        )
        SELECT counted.total, found.* FROM (SELECT count(*) AS total FROM hits) AS counted
        LEFT JOIN ({" UNION ALL ".join(_found(kind) for kind in kinds)}) AS found ON true
        ORDER BY score DESC, type, id
        """,
        {
            "text": text,
            "skip": skip,
            "limit": limit,
            "options": _HEADLINE_OPTIONS,
            "marks": HIT_BEGINS + HIT_ENDS,
            "excerpt_from": _EXCERPT_FROM,
        },
    )
    rows = await cursor.fetchall()
    total: int = rows[0]["total"]
    for row in rows:
        del row["total"]
    return [row for row in rows if row["id"] is not None], total


def _hits(kind: str) -> str:
    """All hits of a kind with their scores. UNION, since the two ways to be found can both use an index."""
    score = """
        CASE WHEN lower(i.external_id) = asked.id_prefix THEN 2
             WHEN starts_with(lower(i.external_id), asked.id_prefix) THEN 1
             ELSE 0 END
        + ts_rank_cd(i.search, asked.words, 32)::double precision AS score
    """
    select = f"SELECT '{kind}' AS type, i.id, {score} FROM {_TABLES[kind]} i, asked"
    return (
        f"(({select} WHERE i.search @@ asked.words)"
        f" UNION ({select} WHERE starts_with(lower(i.external_id), asked.id_prefix)))"
    )


def _found(kind: str) -> str:
    """What the answer tells of the page's hits of a kind."""
    return f"""
        SELECT page.type, page.id, i.external_id, i.title, i.module, i.status, page.score,
               ts_headline('english',
                           translate(concat_ws(' · ', i.title, nullif(array_to_string(i.tags, ', '), ''),
                                               left(i.description, %(excerpt_from)s)), %(marks)s, ''),
                           asked.words, %(options)s) AS excerpt
        FROM asked, page JOIN {_TABLES[kind]} i ON i.id = page.id AND page.type = '{kind}'
    """
