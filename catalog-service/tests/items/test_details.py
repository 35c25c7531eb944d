"""One request tells all that the screen of an item shows."""

from typing import Any

import pytest

from testing.service import ok, problem

ALL = "coverage,links,verdict,timeline"


async def test_an_item_comes_with_its_links_and_what_results_say(catalog: Any) -> None:
    requirement, test_case = await catalog.pair()
    link = await catalog.link(requirement, test_case, notes="Agreed")
    await catalog.link(*await catalog.pair())
    runs = [
        ok(await catalog.post(f"/test-cases/{test_case['id']}/results", {"status": status}), 201)["run"]["id"]
        for status in ("passed", "failed")
    ]
    plain = await catalog.get(f"/requirements/{requirement['id']}")

    found = await catalog.read(f"/requirements/{requirement['id']}", expand=ALL)

    assert found["etag"] == plain.headers["etag"]
    assert {name: found[name] for name in plain.json()} == plain.json()
    (linked,) = found["links"]["items"]
    assert {name: linked[name] for name in link} == link
    assert linked["test_case"]["title"] == test_case["title"]
    assert (found["links"]["total"], found["coverage"]["links"]) == (1, 1)
    assert (found["verdict"]["verdict"], found["verdict"]["counts"]["failed"]) == ("failed", 1)
    (standing,) = found["verdict"]["test_cases"]
    assert (standing["id"], standing["verdict"]) == (test_case["id"], "failed")
    assert [(run["run_id"], run["status"]) for run in standing["runs"]] == [(runs[0], "passed"), (runs[1], "failed")]
    timeline = f"/requirements/{requirement['id']}/timeline"
    assert found["timeline"] == await catalog.read(timeline, limit=20)
    for number in range(20):
        await catalog.patch(f"/requirements/{requirement['id']}", {"tags": [str(number)]})
    first = (await catalog.read(f"/requirements/{requirement['id']}", expand="timeline"))["timeline"]
    rest = await catalog.read(timeline, after=first["next_after"])
    assert rest["items"] == found["timeline"]["items"]
    of_test_case = await catalog.read(f"/test-cases/{test_case['id']}", expand=ALL)
    assert of_test_case["verdict"]["test_cases"][0]["runs"] == standing["runs"]
    assert of_test_case["links"]["items"][0]["requirement"]["id"] == requirement["id"]


@pytest.mark.parametrize("path", ["requirements", "test-cases"])
async def test_only_one_item_has_links_and_verdicts_beside_it(catalog: Any, path: str) -> None:
    for where in (f"/{path}/{'0' * 8}-0000-4000-8000-{'0' * 12}", f"/{path}"):
        refused = problem(await catalog.get(where, expand="links,dreams"), 422)
        assert "cannot be expanded here" in refused["errors"][0]["message"]
    assert (await catalog.get(f"/{path}", expand="links")).status_code == 422
    missing = await catalog.get(f"/{path}/{'0' * 8}-0000-4000-8000-{'0' * 12}", expand="links")
    assert missing.status_code == 404
