"""Links: made once, suspect when an item moves on, confirmed, seen from both sides."""

import asyncio
from typing import Any

import pytest

from testing.service import problem

UNKNOWN = "00000000-0000-4000-8000-000000000000"
SIDES = pytest.mark.parametrize("side", ["requirement", "test_case"])


@pytest.fixture
async def link(catalog: Any) -> dict[str, Any]:
    return await catalog.link(*await catalog.pair())


def path_of(link: dict[str, Any], side: str) -> str:
    """Return the path of an end of a link."""
    return f"/{'requirements' if side == 'requirement' else 'test-cases'}/{link[f'{side}_id']}"


async def test_a_link_made_by_hand_is_manual_and_certain(catalog: Any) -> None:
    requirement, test_case = await catalog.pair()
    body = {
        "requirement_id": requirement["id"],
        "test_case_id": test_case["id"],
        "link_type": "verifies",
        "notes": "Agreed",
    }
    sent = body | {"confidence_score": 0.25, "link_source": "imported", "created_by": "x", "id": UNKNOWN}
    response = await catalog.post("/links", sent)
    link = response.json()
    assert link == body | {
        "id": link["id"],
        "link_source": "manual",
        "confidence_score": 1.0,
        "created_at": link["created_at"],
        "created_by": catalog.email,
        "confirmed_at": None,
        "confirmed_by": None,
        "updated_at": link["created_at"],
        "requirement_version": 1,
        "test_case_version": 1,
        "suggestion_id": None,
        "suspect": False,
        "suspect_reason": None,
    }
    assert link["id"] != UNKNOWN
    assert response.headers["location"] == f"/api/v1/links/{link['id']}"
    read = await catalog.get(f"/links/{link['id']}")
    assert (read.content, read.headers["etag"]) == (response.content, response.headers["etag"])


async def test_a_link_covers_unless_something_else_is_said(catalog: Any) -> None:
    assert (await catalog.link(*await catalog.pair()))["link_type"] == "covers"
    assert (await catalog.link(*await catalog.pair(), link_type=None))["link_type"] == "covers"


async def test_a_pair_is_linked_once(catalog: Any, link: dict[str, Any]) -> None:
    pair = {name: link[name] for name in ("requirement_id", "test_case_id")}
    refused = problem(await catalog.post("/links", pair | {"link_type": "related"}), 409, "link_exists")
    assert refused["detail"] == "A link between this requirement and this test case already exists."
    assert (await catalog.read("/links", **pair))["total"] == 1
    await catalog.delete(f"/links/{link['id']}")
    assert (await catalog.post("/links", pair)).status_code == 201


async def test_of_many_links_of_one_pair_one_is_made(catalog: Any) -> None:
    requirement, test_case = await catalog.pair()
    pair = {"requirement_id": requirement["id"], "test_case_id": test_case["id"]}
    answers = await asyncio.gather(*(catalog.post("/links", pair) for _ in range(12)))
    assert sorted(answer.status_code for answer in answers) == [201] + [409] * 11


async def test_both_ends_of_a_link_must_exist(catalog: Any) -> None:
    requirement, test_case = await catalog.pair()
    pair = {"requirement_id": requirement["id"], "test_case_id": test_case["id"]}
    missing = pair | {"requirement_id": UNKNOWN}
    problem(await catalog.post("/links", missing), 404, "requirement_not_found")
    problem(await catalog.post("/links", pair | {"test_case_id": UNKNOWN}), 404, "test_case_not_found")
    problem(await catalog.post("/links", pair | {"test_case_id": "x"}), 422, field="/test_case_id")
    problem(await catalog.post("/links", {}), 422, field="/requirement_id")
    crossed = {"requirement_id": test_case["id"], "test_case_id": requirement["id"]}
    problem(await catalog.post("/links", crossed), 404)


@SIDES
async def test_a_link_to_what_is_being_deleted_is_made_before_or_not_at_all(catalog: Any, side: str) -> None:
    for _ in range(10):
        requirement, test_case = await catalog.pair()
        pair = {"requirement_id": requirement["id"], "test_case_id": test_case["id"]}
        made, deleted = await asyncio.gather(catalog.post("/links", pair), catalog.delete(path_of(pair, side)))
        assert deleted.status_code == 204
        if made.status_code == 404:
            assert made.json()["code"] == f"{side}_not_found"
            continue
        # It was there for a moment: its end was told as well.
        assert made.status_code == 201
        told = [event["type"] for event in await catalog.events(subject=made.json()["id"])]
        assert told == ["catalog.link.created", "catalog.link.deleted"]


@SIDES
async def test_a_link_to_what_is_deleted_after_it_was_looked_at_is_refused(catalog: Any, side: str) -> None:
    requirement, test_case = await catalog.pair()
    pair = {"requirement_id": requirement["id"], "test_case_id": test_case["id"]}
    table = "requirements" if side == "requirement" else "test_cases"
    async with catalog.database.transaction() as connection:
        # Deleted, not committed: the link's own look still finds the item, its insert then waits.
        await connection.execute(f"DELETE FROM {table} WHERE id = %s", (pair[f"{side}_id"],))
        waiting = asyncio.create_task(catalog.post("/links", pair))
        for _ in range(1000):
            if await is_waiting(catalog):
                break
            await asyncio.sleep(0.01)
        else:
            pytest.fail("the link did not wait for the deletion")
    problem(await waiting, 404, f"{side}_not_found")


async def is_waiting(catalog: Any) -> bool:
    waiting = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    return bool(await catalog.rows(waiting))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("confidence_score", -0.1),
        ("confidence_score", 1.1),
        ("confidence_score", 1e300),
        ("confidence_score", "high"),
        ("confidence_score", True),
        ("link_type", "guesses"),
        ("notes", 5),
        ("notes", "\0"),
    ],
)
async def test_a_wrong_field_of_a_link_is_named(catalog: Any, field: str, value: object) -> None:
    requirement, test_case = await catalog.pair()
    pair = {"requirement_id": requirement["id"], "test_case_id": test_case["id"]}
    problem(await catalog.post("/links", pair | {field: value}), 422, field=f"/{field}")


@pytest.mark.parametrize("own", [None, "REQ"])
async def test_an_id_and_the_external_id_of_another_are_refused(catalog: Any, own: str | None) -> None:
    requirement = await catalog.requirement(external_id=own and f"{own}-{catalog.word()}")
    other, test_case = await catalog.requirement(external_id=catalog.word()), await catalog.test_case()
    ends = {"requirement_id": requirement["id"], "requirement_external_id": other["external_id"]}
    refused = await catalog.post("/links", ends | {"test_case_id": test_case["id"]})
    its = f"the external_id '{requirement['external_id']}'" if own else "no external_id"
    assert problem(refused, 422, field="/requirement_external_id")["errors"][0]["message"] == (
        f"The requirement with this requirement_id has {its}, not '{other['external_id']}'; send one of the two."
    )


async def test_the_events_of_a_link_name_both_items(catalog: Any) -> None:
    names = catalog.word(), catalog.word()
    requirement = await catalog.requirement(external_id=names[0])
    link = await catalog.link(requirement, await catalog.test_case(external_id=names[1]))
    await catalog.patch(f"/links/{link['id']}", {"notes": "Better so"})
    await catalog.post(f"/links/{link['id']}/confirm")
    await catalog.delete(f"/requirements/{requirement['id']}")
    told = [event["data"]["link"] for event in await catalog.events(subject=link["id"])]
    assert len(told) >= 3
    assert {(one["requirement_external_id"], one["test_case_external_id"]) for one in told} == {names}


async def test_type_and_notes_of_a_link_can_change(catalog: Any, link: dict[str, Any]) -> None:
    path = f"/links/{link['id']}"
    patched = (await catalog.patch(path, {"link_type": "validates", "notes": "Better so"})).json()
    assert patched == link | {
        "link_type": "validates",
        "notes": "Better so",
        "updated_at": patched["updated_at"],
    }
    assert patched["updated_at"] > link["updated_at"]
    assert (await catalog.patch(path, {"notes": None})).json()["notes"] is None
    unchanged = await catalog.read(path)
    assert (await catalog.patch(path, {"notes": None, "link_type": "validates"})).json() == unchanged
    problem(await catalog.patch(path, {"link_type": "guesses"}), 422, field="/link_type")
    problem(await catalog.patch(path, {"link_type": None}), 422, field="/link_type")
    problem(await catalog.patch(path, {"confidence_score": 0.5}), 422, "unknown_field")
    events = await catalog.events(subject=link["id"])
    assert [event["type"] for event in events] == ["catalog.link.created", *["catalog.link.updated"] * 2]
    assert events[1]["data"]["changes"] == {
        "link_type": {"before": "covers", "after": "validates"},
        "notes": {"before": None, "after": "Better so"},
    }
    assert events[1]["data"]["link"]["notes"] == "Better so"


@pytest.mark.parametrize("method", ["GET", "PATCH", "DELETE", "POST"])
async def test_a_link_that_does_not_exist_is_not_found(catalog: Any, method: str) -> None:
    path = f"/links/{UNKNOWN}{'/confirm' if method == 'POST' else ''}"
    body = {"notes": "x"} if method == "PATCH" else None
    problem(await catalog.request(method, path, json=body), 404, "link_not_found")


async def test_a_viewer_reads_links_and_changes_none(catalog: Any, viewer: Any, link: dict[str, Any]) -> None:
    path = f"/links/{link['id']}"
    await viewer.read(path)
    await viewer.read("/links")
    pair = {name: link[name] for name in ("requirement_id", "test_case_id")}
    problem(await viewer.post("/links", pair), 403)
    problem(await viewer.patch(path, {}), 403)
    problem(await viewer.delete(path), 403)
    problem(await viewer.post(f"{path}/confirm"), 403)


async def test_links_are_filtered_and_sorted(catalog: Any) -> None:
    (one, test_case), two = await catalog.pair(), await catalog.requirement()
    first = await catalog.link(one, test_case, link_type="verifies")
    second = await catalog.link(two, test_case, link_type="related")
    await catalog.patch(f"/requirements/{two['id']}", {"title": "Another"})

    async def found(**filters: str) -> list[str]:
        filters = {"test_case_id": test_case["id"]} | filters
        return [link["id"] for link in (await catalog.read("/links", **filters))["items"]]

    assert await found() == [second["id"], first["id"]]
    assert await found(sort="created_at:asc") == [first["id"], second["id"]]
    assert set(await found(sort="confidence_score:desc")) == {first["id"], second["id"]}
    assert await found(requirement_id=one["id"]) == [first["id"]]
    assert await found(requirement_id=f"!{one['id']}") == [second["id"]]
    assert len(await found(requirement_id=f"{one['id']},{two['id']}")) == 2
    assert await found(link_type="verifies") == [first["id"]]
    assert await found(link_type="!verifies") == [second["id"]]
    assert await found(link_source="imported,ai_confirmed") == []
    assert await found(suspect="true") == [second["id"]]
    assert await found(suspect="false") == [first["id"]]
    for name, value in (("link_type", "x"), ("requirement_id", "x"), ("suspect", "x"), ("sort", "notes")):
        problem(await catalog.get("/links", **{name: value}), 422, field=f"/query/{name}")


@SIDES
async def test_a_link_is_suspect_while_an_item_is_newer_than_its_confirmation(
    catalog: Any, link: dict[str, Any], side: str
) -> None:
    path = f"/links/{link['id']}"
    item = path_of(link, side)
    await catalog.patch(item, {"status": "draft", "tags": ["new"]})
    assert await catalog.read(path) == link
    await catalog.patch(item, {"priority": "low"})
    await catalog.patch(item, {"title": "Another", "priority": "high", "module": "m"})
    suspect = await catalog.read(path)
    label = side.replace("_", " ")
    assert suspect == link | {
        "suspect": True,
        "suspect_reason": {
            "summary": f"The {label} went from version 1 to 3 (title, priority) after this link was made or"
            " last confirmed.",
            "requirement": None,
            "test_case": None,
            side: {"from_version": 1, "to_version": 3, "fields": ["title", "priority"]},
        },
    }
    (listed,) = (await catalog.read("/links", **{f"{side}_id": link[f"{side}_id"]}))["items"]
    assert listed == suspect | {"etag": (await catalog.get(path)).headers["etag"]}
    assert (await catalog.patch(path, {"notes": "still to be looked at"})).json()["suspect"] is True

    confirmed = (await catalog.post(f"{path}/confirm")).json()
    assert (confirmed["suspect"], confirmed["suspect_reason"]) == (False, None)
    assert confirmed["confirmed_by"] == catalog.email
    assert confirmed["updated_at"] == confirmed["confirmed_at"] > link["created_at"]
    assert await catalog.read(path) == confirmed
    told = (await catalog.events(subject=link["id"]))[-1]
    assert told["type"] == "catalog.link.updated"
    assert told["data"]["changes"]["confirmed_by"] == {"before": None, "after": catalog.email}
    assert told["data"]["link"]["confirmed_by"] == catalog.email

    await catalog.patch(item, {"description": "Quite another text"})
    again = (await catalog.read(path))["suspect_reason"]
    assert again[side] == {"from_version": 3, "to_version": 4, "fields": ["description"]}


async def test_a_reason_tells_of_both_sides(catalog: Any, link: dict[str, Any]) -> None:
    await catalog.patch(path_of(link, "requirement"), {"title": "Another"})
    await catalog.patch(path_of(link, "test_case"), {"steps": {"1": "Pull"}})
    assert (await catalog.read(f"/links/{link['id']}"))["suspect_reason"]["summary"] == (
        "The requirement went from version 1 to 2 (title) and the test case went from version 1 to 2 (steps)"
        " after this link was made or last confirmed."
    )


async def test_a_link_to_a_changed_item_is_not_suspect(catalog: Any) -> None:
    requirement, test_case = await catalog.pair()
    await catalog.patch(f"/requirements/{requirement['id']}", {"title": "Another"})
    assert (await catalog.link(requirement, test_case))["suspect"] is False
    (listed,) = (await catalog.read("/links", requirement_id=requirement["id"]))["items"]
    assert listed["suspect"] is False


async def test_a_confirmation_of_what_was_not_seen_is_refused(catalog: Any, link: dict[str, Any]) -> None:
    path = f"/links/{link['id']}"
    etag = (await catalog.get(path)).headers["etag"]
    await catalog.patch(path_of(link, "requirement"), {"title": "Another"})
    problem(await catalog.post(f"{path}/confirm", if_match=etag), 412)
    assert (await catalog.read(path))["suspect"] is True


@SIDES
async def test_the_items_of_the_other_side_are_listed_with_their_link(catalog: Any, side: str) -> None:
    item, other = await catalog.pair()
    if side == "test_case":
        item, other = other, item
    ends = (item, other) if side == "requirement" else (other, item)
    link = await catalog.link(*ends, link_type="verifies")
    path = f"{path_of(link, side)}/{'test-cases' if side == 'requirement' else 'requirements'}"
    await catalog.patch(path_of(link, side), {"priority": "low"})
    page = await catalog.read(path)
    link = await catalog.read(f"/links/{link['id']}")
    assert page == {
        "items": [
            other
            | {
                "link_id": link["id"],
                "link_type": "verifies",
                "link_source": "manual",
                "confidence_score": 1.0,
                "suspect": True,
                "linked_at": link["created_at"],
                "link": link,
                "requirement": short(ends[0] if side == "test_case" else await catalog.read(path_of(link, side))),
                "test_case": short(ends[1] if side == "requirement" else await catalog.read(path_of(link, side))),
            }
        ],
        "total": 1,
        "skip": 0,
        "limit": 50,
        "next_after": None,
    }


async def test_linked_items_come_in_pages_the_newest_link_first(catalog: Any) -> None:
    requirement = await catalog.requirement()
    made = [await catalog.test_case() for _ in range(5)]
    for test_case in reversed(made):
        await catalog.link(requirement, test_case)
    path = f"/requirements/{requirement['id']}/test-cases"
    pages = [await catalog.get(path, limit=2, skip=skip) for skip in (0, 2, 4, 6)]
    assert [len(page.json()["items"]) for page in pages] == [2, 2, 1, 0]
    assert [item["id"] for page in pages for item in page.json()["items"]] == [item["id"] for item in made]
    assert "next" in pages[0].links
    assert {page.json()["total"] for page in pages} == {5}


async def test_the_linked_items_of_what_does_not_exist_are_not_found(catalog: Any) -> None:
    problem(await catalog.get(f"/requirements/{UNKNOWN}/test-cases"), 404, "requirement_not_found")
    problem(await catalog.get(f"/test-cases/{UNKNOWN}/requirements"), 404, "test_case_not_found")
    item = await catalog.requirement()
    assert (await catalog.read(f"/requirements/{item['id']}/test-cases"))["items"] == []


def short(item: dict[str, Any]) -> dict[str, Any]:
    """Return an item as it stands for itself elsewhere."""
    return {name: item[name] for name in ("id", "external_id", "title", "module")}


async def test_links_show_both_their_items_when_asked_to(catalog: Any) -> None:
    requirement = await catalog.requirement(external_id=catalog.word(), module="doors")
    link = await catalog.link(requirement, await catalog.test_case())
    test_case = await catalog.read(path_of(link, "test_case"))
    expanded = link | {"requirement": short(requirement), "test_case": short(test_case)}
    assert await catalog.read(f"/links/{link['id']}", expand="items") == expanded
    etag = {"etag": (await catalog.get(f"/links/{link['id']}")).headers["etag"]}
    rows = {"requirement_id": requirement["id"]}
    assert (await catalog.read("/links", **rows, expand="items"))["items"] == [expanded | etag]
    assert (await catalog.read("/links", **rows))["items"] == [link | etag]
    for path in ("/links", f"/links/{link['id']}"):
        problem(await catalog.get(path, expand="item"), 422, field="/query/expand")


async def test_links_are_found_by_when_they_changed_last(catalog: Any) -> None:
    requirement, test_case = await catalog.pair()
    first = await catalog.link(requirement, test_case)
    second = await catalog.link(requirement, await catalog.test_case())

    async def found(moment: str, **more: str) -> list[str]:
        page = await catalog.read("/links", requirement_id=requirement["id"], updated_since=moment, **more)
        return [link["id"] for link in page["items"]]

    assert await found(first["updated_at"]) == [second["id"], first["id"]]
    assert await found(second["updated_at"]) == [second["id"]]
    noted = (await catalog.patch(f"/links/{first['id']}", {"notes": "n"})).json()
    assert await found(noted["updated_at"]) == [first["id"]]
    await catalog.patch(path_of(second, "requirement"), {"title": "Another"})
    assert await found(noted["updated_at"]) == [first["id"]]
    confirmed = (await catalog.post(f"/links/{second['id']}/confirm")).json()
    assert await found(confirmed["updated_at"]) == [second["id"]]
    assert await found("2000-01-01", sort="updated_at:asc") == [first["id"], second["id"]]
    assert await found("2000-01-01", sort="updated_at:desc", suspect="true") == [first["id"]]
    problem(await catalog.get("/links", updated_since="yesterday"), 422, field="/query/updated_since")
