"""How far an import is that takes its time is told; a plan, and what takes no second, is not."""

from typing import Any
from uuid import uuid4

from psycopg.types.json import Json

from catalog_service.exchange.jobs.import_progress import ImportProgress

_APPLYING = (
    "INSERT INTO import_jobs (id, status, kind, options, apply_options, progress, created_by, correlation_id,"
    " created_at, size, claimed_until)"
    " VALUES (%s, %s, 'all', '{}', %s, 0.6, 'kim@example.test', 'c', now(), 1, 'infinity')"
)


async def test_an_import_that_goes_on_is_told_of_once_it_has_come_further(catalog: Any) -> None:
    job_id, plan_id = uuid4(), uuid4()
    asked = Json({"by": "ana@example.test", "by_id": 3})
    await catalog.rows(_APPLYING, job_id, "applying", asked)
    await catalog.rows(_APPLYING, plan_id, "reading", None)
    progress = ImportProgress(catalog.database)
    for done in (0.6, 0.6, 0.7):
        await catalog.rows("UPDATE import_jobs SET progress = %s WHERE id = ANY(%s)", done, [job_id, plan_id])
        await progress.tell()
    await progress.tell()
    (event,) = await catalog.events("catalog.import.progressed")
    assert (event["subject"], event["actor"], event["actorid"]) == (str(job_id), "ana@example.test", 3)
    assert event["data"] == {"import_id": str(job_id), "status": "applying", "progress": 0.7}
    await catalog.rows("DELETE FROM import_jobs WHERE id = ANY(%s)", [job_id, plan_id])
