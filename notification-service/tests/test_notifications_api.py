"""A user reads and marks their own notifications, and nobody else's."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from contracts import catalog
from testing import factories

if TYPE_CHECKING:
    from conftest import World

MORNING = datetime(2026, 1, 31, 8, tzinfo=UTC)


async def tell_requirements(world: "World", titles: str) -> None:
    """One requirement a letter, an hour apart."""
    for hour, title in enumerate(titles):
        await world.tell(
            catalog.RequirementCreated(requirement=factories.requirement(title=title)),
            at=MORNING + timedelta(hours=hour),
        )


def titles(items: list[dict[str, str]]) -> str:
    return "".join(item["message"].partition("“")[2][0] for item in items)


async def unread(world: "World") -> int:
    count: int = (await world.read("/notifications/unread-count"))["unread_count"]
    return count


async def test_the_list_is_newest_first_and_paged(world: "World") -> None:
    await tell_requirements(world, "abcde")
    page = await world.read("/notifications", skip=1, limit=2)
    assert titles(page["items"]) == "dc"
    assert {key: value for key, value in page.items() if key != "items"} == {
        "total": 5,
        "skip": 1,
        "limit": 2,
        "next_after": page["next_after"],
        "unread_count": 5,
    }
    assert page["items"][0]["created_at"] == "2026-01-31T11:00:00Z"


async def test_notifications_of_the_same_moment_keep_their_order_over_pages(world: "World") -> None:
    created = [catalog.RequirementCreated(requirement=factories.requirement(title=title)) for title in "abcdefg"]
    await world.tell(*created, at=MORNING)
    pages = [await world.read("/notifications", skip=skip, limit=3) for skip in (0, 3, 6)]
    assert "".join(titles(page["items"]) for page in pages) == "gfedcba"


async def test_the_list_gives_twenty_unless_asked_and_links_to_the_next_page(world: "World") -> None:
    await world.tell(*(catalog.RequirementCreated(requirement=factories.requirement()) for _ in range(21)))
    response = await world.ask("GET", "/notifications", params={"unread_only": "true"})
    assert len(response.json()["items"]) == 20
    after = response.json()["next_after"]
    assert response.headers["link"] == f'</api/v1/notifications?unread_only=true&after={after}&limit=20>; rel="next"'
    by_skip = await world.ask("GET", "/notifications", params={"unread_only": "true", "skip": 0})
    assert by_skip.headers["link"] == '</api/v1/notifications?unread_only=true&skip=20&limit=20>; rel="next"'


async def test_a_page_beyond_the_end_is_empty_and_still_counts(world: "World") -> None:
    await tell_requirements(world, "ab")
    page = await world.read("/notifications", skip=2_000_000_000)
    assert (page["items"], page["total"], page["unread_count"]) == ([], 2, 2)


async def test_only_unread_ones_are_listed_when_asked(world: "World") -> None:
    await tell_requirements(world, "abc")
    [_, middle, _] = await world.notifications()
    await world.ask("POST", f"/notifications/{middle['id']}/read")
    page = await world.read("/notifications", unread_only=True)
    assert (titles(page["items"]), page["total"], page["unread_count"]) == ("ca", 2, 2)
    page = await world.read("/notifications")
    assert (titles(page["items"]), page["total"], page["unread_count"]) == ("cba", 3, 2)


@pytest.mark.parametrize("query", ["skip=-1", "skip=2147483648", "limit=0", "limit=101", "unread_only=perhaps"])
async def test_a_query_out_of_range_is_refused(world: "World", query: str) -> None:
    response = await world.ask("GET", f"/notifications?{query}")
    assert response.status_code == 422
    assert response.json()["errors"][0]["pointer"] == f"/query/{query.partition('=')[0]}"


async def test_nothing_yet_is_an_empty_list_and_zero(world: "World") -> None:
    assert await world.read("/notifications") == {
        "items": [],
        "total": 0,
        "skip": 0,
        "limit": 20,
        "next_after": None,
        "unread_count": 0,
    }
    assert await unread(world) == 0


async def test_the_unread_count_follows_what_happens(world: "World") -> None:
    await tell_requirements(world, "abc")
    assert await unread(world) == 3
    [newest, *_] = await world.notifications()
    await world.ask("POST", f"/notifications/{newest['id']}/read")
    assert await unread(world) == 2
    await world.ask("POST", "/notifications/mark-all-read")
    assert await unread(world) == 0


async def test_counts_asked_for_together_are_each_caller_s_own(world: "World") -> None:
    await tell_requirements(world, "ab")
    await world.tell(catalog.TestCaseCreated(test_case=factories.test_case()), by=world.ben)
    answers = await asyncio.gather(
        *(world.read("/notifications/unread-count", who) for who in [world.ana, world.ben] * 10)
    )
    assert [answer["unread_count"] for answer in answers] == [2, 1] * 10


@pytest.mark.parametrize("method", ["POST", "PATCH"])
async def test_marking_one_read_gives_it_and_marking_it_again_changes_nothing(world: "World", method: str) -> None:
    await tell_requirements(world, "a")
    [before] = await world.notifications()
    first = await world.ask(method, f"/notifications/{before['id']}/read")
    again = await world.ask(method, f"/notifications/{before['id']}/read")
    assert first.status_code == 200
    assert first.json() == before | {"read": True, "read_at": first.json()["read_at"]}
    assert first.json()["read_at"].endswith("Z")
    assert again.json() == first.json()
    assert await world.read(f"/notifications/{before['id']}") == first.json()


async def test_reading_one_by_its_address_leaves_it_unread(world: "World") -> None:
    await tell_requirements(world, "a")
    [told] = await world.notifications()
    assert await world.read(f"/notifications/{told['id']}") == told
    assert await unread(world) == 1


BY_ID = [("GET", ""), ("POST", "/read"), ("PATCH", "/read"), ("DELETE", "")]


async def test_a_list_is_narrowed_by_type(world: "World") -> None:
    await tell_requirements(world, "abc")
    await world.tell(
        catalog.TestCaseCreated(test_case=factories.test_case()),
        factories.run_finished(),
        factories.item_suggestions_generated(),
    )
    [newest, *_] = await world.notifications()
    await world.ask("POST", f"/notifications/{newest['id']}/read")

    async def listed(**query: object) -> tuple[int, list[str]]:
        page = await world.read("/notifications", limit=2, **query)
        assert page["unread_count"] == 5, "of all, whatever is asked for"
        return page["total"], [item["type"] for item in page["items"]]

    assert await listed(type="requirement_created") == (3, ["requirement_created"] * 2)
    assert await listed(type="requirement_created", skip=2) == (3, ["requirement_created"])
    assert await listed(type="test_case_created,coverage_drop") == (1, ["test_case_created"])
    assert await listed(type="!requirement_created,!test_case_created") == (2, ["suggestions_generated"] * 2)
    assert await listed(type="suggestions_generated", unread_only=True) == (1, ["suggestions_generated"])
    refused = await world.ask("GET", "/notifications", params={"type": "cake"})
    assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, "/query/type")


async def test_a_list_is_narrowed_to_what_changed_since(world: "World") -> None:
    await tell_requirements(world, "abc")
    first, second, third = reversed(await world.notifications())

    async def changed_since(moment: str) -> list[int]:
        page = await world.read("/notifications", updated_since=moment)
        assert page["total"] == len(page["items"])
        return [item["id"] for item in page["items"]]

    assert await changed_since(first["created_at"]) == [third["id"], second["id"], first["id"]]
    assert await changed_since("2100-01-01") == []
    read = (await world.ask("POST", f"/notifications/{first['id']}/read")).json()
    assert await changed_since(read["read_at"]) == [first["id"]]
    refused = await world.ask("GET", "/notifications", params={"updated_since": "yesterday"})
    assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, "/query/updated_since")


async def test_all_of_one_type_are_marked_read(world: "World") -> None:
    await tell_requirements(world, "abc")
    await world.tell(catalog.TestCaseCreated(test_case=factories.test_case()))
    marked = await world.ask("POST", "/notifications/mark-all-read", params={"type": "requirement_created"})
    assert marked.json() == {"marked": 3}
    assert await unread(world) == 1
    assert (await world.ask("POST", "/notifications/mark-all-read?type=cake")).status_code == 422


async def test_a_deleted_notification_is_gone_and_counted_no_more(world: "World") -> None:
    await tell_requirements(world, "ab")
    [newest, other] = await world.notifications()
    gone = await world.ask("DELETE", f"/notifications/{newest['id']}")
    assert (gone.status_code, gone.content) == (204, b"")
    assert (await world.ask("DELETE", f"/notifications/{newest['id']}")).status_code == 404
    page = await world.read("/notifications")
    assert (page["items"], page["total"], page["unread_count"]) == ([other], 1, 1)
    assert await unread(world) == 1


@pytest.mark.parametrize(("method", "path"), BY_ID)
async def test_somebody_else_s_notification_is_not_found_and_stays_as_it_is(
    world: "World", method: str, path: str
) -> None:
    await tell_requirements(world, "a")
    [told] = await world.notifications()
    response = await world.ask(method, f"/notifications/{told['id']}{path}", world.ben)
    assert response.status_code == 404
    assert response.json()["code"] == "notification_not_found"
    assert await world.notifications() == [told]


@pytest.mark.parametrize("unknown", ["999", str(2**63 - 1)])
async def test_an_unknown_notification_is_not_found(world: "World", unknown: str) -> None:
    for method, path in BY_ID:
        response = await world.ask(method, f"/notifications/{unknown}{path}")
        assert (response.status_code, response.json()["code"]) == (404, "notification_not_found")


@pytest.mark.parametrize("odd", ["0", "-1", "9" * 19, "9" * 40, "²", "x", "b73fcbb2-41d6-4dd6-8cbc-92213d5b3ab1"])
async def test_what_is_no_id_is_refused_as_elsewhere(world: "World", odd: str) -> None:
    for method, path in BY_ID:
        response = await world.ask(method, f"/notifications/{odd}{path}")
        assert response.status_code == 422
        assert response.json()["errors"][0]["pointer"] == "/path/notification_id"


async def test_marking_all_read_marks_the_caller_s_own_only(world: "World") -> None:
    await tell_requirements(world, "abc")
    await world.tell(catalog.TestCaseCreated(test_case=factories.test_case()), by=world.ben)
    [newest, *_] = await world.notifications()
    first = await world.ask("POST", f"/notifications/{newest['id']}/read")

    response = await world.ask("POST", "/notifications/mark-all-read")

    assert (response.status_code, response.json()) == (200, {"marked": 2})
    items = await world.notifications()
    assert all(item["read"] for item in items)
    assert items[0]["read_at"] == first.json()["read_at"]
    assert [item["read"] for item in await world.notifications(world.ben)] == [False]
    assert (await world.ask("POST", "/notifications/mark-all-read")).json() == {"marked": 0}


async def test_a_caller_without_a_token_is_refused(world: "World") -> None:
    response = await world.ask("GET", "/notifications", headers={"authorization": ""})
    assert response.status_code == 401
