"""Of an import, the audit log has each change and everybody else is told once."""

from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

import pytest

from contracts import catalog
from notification_service.wording import import_outcome
from testing import factories

if TYPE_CHECKING:
    from conftest import World


def applied(import_id: UUID, **counts: dict[str, int]) -> catalog.ImportApplied:
    return catalog.ImportApplied(
        import_id=import_id, format="csv", file_name="items.csv", sha256="abc", counts=counts, suggest=True
    )


async def import_items(world: "World") -> UUID:
    """Import two requirements and a test case, change a requirement, link them."""
    import_id = uuid4()
    kept = factories.requirement(external_id="REQ-9")
    await world.tell(
        catalog.RequirementUpdated(requirement=kept, changes={"title": catalog.Change(before="Old", after="New")}),
        catalog.RequirementCreated(requirement=factories.requirement()),
        catalog.RequirementCreated(requirement=factories.requirement()),
        catalog.TestCaseCreated(test_case=factories.test_case()),
        catalog.LinkCreated(link=factories.link()),
        catalog.RequirementDeleted(requirement=factories.requirement()),
        batch_id=import_id,
    )
    counts = {"requirement": {"create": 2, "update": 1, "delete": 1}, "test_case": {"create": 1}, "link": {"create": 1}}
    await world.tell(applied(import_id, **counts), batch_id=import_id)
    return import_id


async def test_who_imports_is_told_once(world: "World") -> None:
    import_id = await import_items(world)
    (told,) = await world.notifications()
    assert (told["type"], told["title"]) == ("requirement_created", "2 requirements and 1 test case imported")
    assert told["message"] == (
        "Your import of “items.csv” created 2 requirements, 1 test case and 1 link, changed 1 requirement"
        " and deleted 1 requirement."
    )
    assert told["data"]["import_id"] == str(import_id)
    assert told["data"]["counts"]["requirement"] == {"create": 2, "update": 1, "delete": 1}


@pytest.mark.parametrize(
    ("counts", "type_of"),
    [({"test_case": {"create": 3}}, "test_case_created"), ({"requirement": {"update": 3}}, None), ({}, None)],
)
async def test_what_was_created_says_how_it_is_told(world: "World", counts: Any, type_of: str | None) -> None:
    import_id = uuid4()
    await world.tell(applied(import_id, **counts), batch_id=import_id)
    assert [told["type"] for told in await world.notifications()] == ([] if type_of is None else [type_of])


def test_one_that_ended_midway_says_what_it_has_not_done() -> None:
    told = applied(uuid4(), requirement={"create": 2}).model_copy(update={"not_applied": 3})
    assert import_outcome(told) == "created 2 requirements, and ended midway: 3 changes not made"


async def test_activity_shows_the_import_and_the_audit_log_each_change(world: "World") -> None:
    import_id = await import_items(world)
    activity = await world.read("/activity")
    assert activity["total"] == 1
    (shown,) = activity["items"]
    assert (shown["action"], shown["resource_type"]) == ("import.applied", "import")
    assert (shown["resource_id"], shown["resource_title"]) == (str(import_id), "items.csv")
    assert shown["summary"].startswith("ana@example.com imported “items.csv”, which created 2 requirements")
    entries = await world.audit_log(limit=100)
    assert len(entries) == 7
    (changed,) = [entry for entry in entries if entry["action"] == "requirement.updated"]
    assert changed["changes"]["title"] == {"before": "Old", "after": "New"}
    assert changed["details"]["import_id"] == str(import_id)
    page = await world.read("/activity", resource_type="requirement")
    assert (page["total"], page["items"]) == (0, [])


async def test_pages_are_told_of_kinds_not_of_each_item(world: "World") -> None:
    import_id = await import_items(world)
    rows = await world.rows("SELECT name, data FROM stream_events ORDER BY position")
    told = [(row["data"]["resource_type"], row["data"]["change"]) for row in rows if row["name"] == "item.changed"]
    assert told == [
        ("requirement", "created"),
        ("requirement", "updated"),
        ("requirement", "deleted"),
        ("test_case", "created"),
        ("link", "created"),
    ]
    assert rows[-1] == {
        "name": "import.progress",
        "data": {"import_id": str(import_id), "status": "applied", "progress": 1.0},
    }
