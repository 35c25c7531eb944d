"""How right a band is in this record: what reviewers said of the suggestions in it."""

from collections.abc import Mapping, Sequence
from typing import Any

from chassis.core.wording import counted
from chassis.db.database import Connection
from suggestion_service.review.band import BAND
from suggestion_service.store.suggestions import REVIEWED

_FEWEST = 20
"""Reviews in a band from which its share says something."""
_LOOKED_AT = 500
"""The newest reviews: what is looked at stays the same, however many there are."""

_OF_THIS_SCALE = "s.suggestion_metadata ? 'calculation'"
"""Before 0019 the scores of `tfidf` and `keyword` were plain cosines, which say something else."""

_REVIEWED = f"""
SELECT band, count(*) AS reviewed, count(*) FILTER (WHERE status = 'accepted') AS accepted FROM (
    SELECT {BAND} AS band, s.status FROM (
        SELECT similarity_score, status FROM suggestions
        s WHERE {REVIEWED} AND {_OF_THIS_SCALE} ORDER BY reviewed_at DESC LIMIT {_LOOKED_AT}
    ) s
) r GROUP BY band HAVING count(*) >= {_FEWEST}
"""


async def measured(connection: Connection, rows: Sequence[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return what became of what was reviewed in each band, where that was enough; nothing if none of `rows` waits."""
    if not any(row["status"] == "pending" for row in rows):
        return {}
    cursor = await connection.execute(_REVIEWED)
    return {row["band"]: row for row in await cursor.fetchall()}


def add_precision(rows: Sequence[dict[str, Any]], of_bands: Mapping[str, Mapping[str, Any]]) -> None:
    """Add to the reasons of pending suggestions what became of the others in their band, as `measured` has it."""
    for row in rows:
        if row["status"] == "pending" and row["band"] in of_bands and row["suggestion_reason"] is not None:
            of_band = of_bands[row["band"]]
            row["suggestion_reason"] += (
                f" Of {counted(of_band['reviewed'], 'reviewed suggestion')} in this band {of_band['accepted']}"
                f" {'was' if of_band['accepted'] == 1 else 'were'} accepted."
            )
