"""Facets: how many rows of a list have each value of a field, under the filters of the list."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from chassis.core.wording import no_such_value
from chassis.db.database import Connection
from chassis.web.conditions import Conditions, where
from chassis.web.filters import NOT_FILTERS
from chassis.web.listing import Row, documented
from chassis.web.parameters import parse_names

_MOST_VALUES = 200
_LONGEST_VALUE = 200
"""Characters of a value: what is longer would be a tag from before tags had a bound, for each reader to carry."""


@dataclass(frozen=True, slots=True)
class Facet:
    """A field by whose values rows are counted.

    `name` is that of its filter, too. `value` is SQL, of a text or, with `many`, of an array of them, in which NULL
    stands for none; `joined` are joins that such an array needs, which give each row exactly one.
    """

    name: str
    value: str
    many: bool = False
    joined: str = ""

    @property
    def column(self) -> str:
        """Its name in SQL."""
        return self.name.replace(".", "__")


class FacetValue(BaseModel):
    """A value, null for none, and how many have it."""

    value: str | None
    count: int


class FacetCounts(BaseModel):
    """How many there are in all, and of each value. A value that nothing has is left out."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "total": 3,
                    "facets": {
                        "module": [{"value": "doors", "count": 2}, {"value": None, "count": 1}],
                        "status": [{"value": "approved", "count": 3}],
                    },
                }
            ]
        }
    )

    total: int = Field(description="How many the filters find.")
    facets: dict[str, list[FacetValue]] = Field(
        description=f"By name, the values that most have first, at most {_MOST_VALUES}, none of them of"
        f" more than {_LONGEST_VALUE} characters. They are counted without the"
        " facet's own filter: each count is what choosing that value would find."
    )


def documented_facets(query: type[BaseModel], facets: Sequence[Facet]) -> dict[str, Any]:
    """Return the `openapi_extra` of a route of these facets, of a list that reads its query as `query`."""
    names = [facet.name for facet in facets]
    about = f"Which facets to count, with commas between them: {', '.join(names)}. Left out: all."
    parameter = {
        "name": "facets",
        "in": "query",
        "required": False,
        "description": about,
        "schema": {"type": "string", "examples": [",".join(names[:2])]},
    }
    return {"parameters": [*documented(query, NOT_FILTERS)["parameters"], parameter]}


def read_facets(value: str | None, facets: Sequence[Facet]) -> Sequence[Facet]:
    """Return those of the facets that `facets=a,b` asks for, all when it is not given; raise Invalid for others."""
    if value is None:
        return facets
    names = [facet.name for facet in facets]
    asked = parse_names("facets", value, names, lambda word: no_such_value("facet", word, names))
    return [facet for facet in facets if facet.name in asked]


async def count_facets(connection: Connection, source: str, conditions: Conditions, facets: Sequence[Facet]) -> Row:
    """Return the `total` of the rows of `source` that fulfil the conditions, and the counts of each of the `facets`.

    The rows are read once for all facets of one value, which add up their counts by all of these together; and once for
    each facet of many.
    """
    shared, own = conditions.apart([facet.name for facet in facets])
    single = [facet for facet in facets if not facet.many]
    fulfilled = {facet.name: f"of_{facet.column}" for facet in single if facet.name in own}
    columns = [
        *(f"{facet.value} AS {facet.column}" for facet in single),
        *(f"({' AND '.join(own[name])}) AS {column}" for name, column in fulfilled.items()),
    ]
    of_many = [fragment for facet in facets if facet.many for fragment in own.get(facet.name, ())]
    group_by = f"GROUP BY {', '.join(str(place + 1) for place in range(len(columns)))}" if columns else ""
    counts = [
        _many_counts(facet, source, [*shared, *(f for name in own if name != facet.name for f in own[name])])
        if facet.many
        else _counts(facet, [column for name, column in fulfilled.items() if name != facet.name])
        for facet in facets
    ]
    cursor = await connection.execute(
        f"""
        WITH counted AS MATERIALIZED (
            SELECT {", ".join([*columns, "count(*) AS rows"])} FROM {source} {where([*shared, *of_many])} {group_by}
        )
        SELECT NULL AS facet, NULL AS value, coalesce(sum(rows), 0)::bigint AS count
        FROM counted {where(fulfilled.values())}
        UNION ALL {" UNION ALL ".join(counts)}
        """,
        conditions.parameters,
        prepare=conditions.prepare,
    )
    (_, _, total), *found = [tuple(row.values()) for row in await cursor.fetchall()]
    values: dict[str, list[Row]] = {facet.name: [] for facet in facets}
    for name, value, count in found:
        values[name].append({"value": value, "count": count})
    return {"total": total, "facets": values}


def _counts(facet: Facet, fulfilled: Sequence[str]) -> str:
    value = f"'{facet.name}' AS facet, {facet.column} AS value"
    return _first(
        f"SELECT {value}, sum(rows)::bigint AS count FROM counted {where([*fulfilled, _short(facet.column)])}"
    )


def _many_counts(facet: Facet, source: str, conditions: Sequence[str]) -> str:
    # Taken apart once for all rows that have the same; what a row has twice counts once.
    return _first(
        f"""
        SELECT '{facet.name}' AS facet, value, sum(rows)::bigint AS count FROM (
            SELECT given, rows, unnest(given) AS value, generate_subscripts(given, 1) AS place FROM (
                SELECT {facet.value} AS given, count(*) AS rows FROM {source} {facet.joined} {where(conditions)}
                GROUP BY 1
            ) same
        ) one WHERE place = array_position(given, value) AND {_short("value")}
        """
    )


def _first(counts: str) -> str:
    return f"({counts} GROUP BY value ORDER BY count DESC, value LIMIT {_MOST_VALUES})"


def _short(value: str) -> str:
    return f"({value} IS NULL OR char_length({value}::text) <= {_LONGEST_VALUE})"
