"""What has changed since a link was made or confirmed."""

from typing import Any

from testing.service import problem

UNKNOWN = "00000000-0000-4000-8000-000000000000"


async def test_who_confirms_sees_what_changed_on_either_side(catalog: Any, viewer: Any) -> None:
    requirement = await catalog.requirement(title="Doors close", module="doors")
    test_case = await catalog.test_case(title="The train stands", preconditions="At a platform")
    link = await catalog.link(requirement, test_case)
    here = f"/links/{link['id']}"
    quiet = await viewer.read(f"{here}/suspicion")
    assert quiet == {
        "link_id": link["id"],
        "suspect": False,
        "summary": None,
        "since": link["created_at"],
        "requirement": side(requirement, 1, 1),
        "test_case": side(test_case, 1, 1),
    }
    await catalog.patch(f"/requirements/{requirement['id']}", {"title": "All doors close", "tags": ["x"]})
    requirement = (await catalog.patch(f"/requirements/{requirement['id']}", {"priority": "high"})).json()
    test_case = (await catalog.patch(f"/test-cases/{test_case['id']}", {"preconditions": None})).json()
    told = await viewer.read(f"{here}/suspicion")
    reason = (await viewer.read(here))["suspect_reason"]
    assert (told["suspect"], told["summary"]) == (True, reason["summary"])
    assert told["requirement"]["differences"] == {
        "title": [
            {"op": "delete", "text": "Doors"},
            {"op": "insert", "text": "All doors"},
            {"op": "equal", "text": " close"},
        ],
        "priority": [{"op": "delete", "text": "medium"}, {"op": "insert", "text": "high"}],
    }
    assert [(one["to_version"], one["fields"], one["actor"]) for one in told["requirement"]["changed_by"]] == [
        (3, ["priority"], catalog.email),
        (2, ["title"], catalog.email),
    ]
    assert told["test_case"]["differences"] == {"preconditions": [{"op": "delete", "text": "At a platform"}]}
    assert told["requirement"]["title"] == "All doors close"

    confirmed = (await catalog.post(f"{here}/confirm")).json()
    assert await viewer.read(f"{here}/suspicion") == quiet | {
        "since": confirmed["confirmed_at"],
        "requirement": side(requirement, 3, 3),
        "test_case": side(test_case, 2, 2),
    }
    await catalog.patch(f"/requirements/{requirement['id']}", {"title": "Doors close"})
    again = (await viewer.read(f"{here}/suspicion"))["requirement"]
    assert again["differences"] == {
        "title": [
            {"op": "delete", "text": "All doors"},
            {"op": "insert", "text": "Doors"},
            {"op": "equal", "text": " close"},
        ]
    }


def side(item: Any, then: int, now: int) -> dict[str, Any]:
    return {
        **{name: item[name] for name in ("id", "external_id", "title", "module")},
        "from_version": then,
        "to_version": now,
        "differences": {},
        "coarse": [],
        "changed_by": [],
    }


async def test_the_suspicion_of_no_link_is_not_found(catalog: Any) -> None:
    problem(await catalog.get(f"/links/{UNKNOWN}/suspicion"), 404, "link_not_found")
