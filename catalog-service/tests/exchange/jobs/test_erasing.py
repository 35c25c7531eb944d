"""Erased people: what becomes of files of imports in which nobody can be found."""

import io
from typing import Any

import openpyxl

from catalog_service.handlers import HANDLERS
from chassis.messaging.events import SYSTEM, NewEvent, sequenced
from chassis.messaging.inbox import Inbox
from contracts import auth
from testing.service import Json, ok, problem


def workbook(*rows: tuple[str, ...]) -> bytes:
    book, file = openpyxl.Workbook(), io.BytesIO()
    for row in rows:
        book.active.append(row)
    book.save(file)
    return file.getvalue()


async def test_a_packed_file_goes_and_its_plan_stays(catalog: Any, imports: Any) -> None:
    async def planned(external_id: str) -> Json:
        content = workbook(("External ID", "Title", "Notes"), (external_id, "Another", "Zora Quill"))
        job: Json = ok(
            await imports.send_file(content, {"content-type": "application/octet-stream"}, kind="requirements")
        )
        assert job["status"] == "planned", job
        return job

    changing = await catalog.requirement(external_id=catalog.word())
    kept, new, changed = (
        await imports.plan(imports.requirement()),
        await planned(catalog.word()),
        await planned(changing["external_id"]),
    )
    user = auth.UserState(
        id=7,
        email="erased-7@erased.invalid",
        full_name="Erased user",
        role="viewer",
        is_active=False,
        tokens_not_before=None,
    )
    former = auth.Former(email="zora.quill@example.com", full_names=("Zora Quill",))
    erased = NewEvent(auth.UserErased(user=user, former=former), "7", SYSTEM)
    await Inbox("catalog", catalog.database, HANDLERS).receive([sequenced(1, erased.envelope())])

    stored = await catalog.rows("SELECT job_id FROM import_chunks")
    assert [str(row["job_id"]) for row in stored] == [kept["id"]]
    await imports.apply(new)
    ok(await catalog.patch(f"/requirements/{changing['id']}", {"title": "Changed meanwhile"}))
    problem(await catalog.post(f"/imports/{changed['id']}/apply", {"on_change": "replan"}), 409, "file_not_kept")
