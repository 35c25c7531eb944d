"""The evidence of a requirement has all that proves it, with names unless they are hidden."""

from typing import Any

import pytest

from testing.service import Json, ok, problem


@pytest.fixture
async def proved(catalog: Any) -> Json:
    """Return a requirement of two versions, with a link that was suspect and was confirmed, and a result by hand."""
    requirement = await catalog.requirement(title="Doors <close>", description="At once & for all")
    test_case = await catalog.test_case(external_id=f"TC-{catalog.word()}")
    link = await catalog.link(requirement, test_case, notes="Agreed")
    await catalog.link(*await catalog.pair())
    await catalog.patch(f"/requirements/{requirement['id']}", {"title": "Doors <close> early"})
    await catalog.post(f"/links/{link['id']}/confirm")
    body = {"status": "failed", "notes": "The left door stays open.", "commit": "8f14d3b7"}
    ok(await catalog.post(f"/test-cases/{test_case['id']}/results", body), 201)
    return {**requirement, "test_case": test_case}


async def test_it_has_versions_links_their_suspicion_and_results(catalog: Any, proved: Json) -> None:
    found = await catalog.read(f"/requirements/{proved['id']}/evidence", format="json")

    assert [(one["version"], one["title"], one["actor"]) for one in found["versions"]] == [
        (2, "Doors <close> early", catalog.email),
        (1, "Doors <close>", catalog.email),
    ]
    (link,) = found["links"]
    assert (link["created_by"], link["confirmed_by"], link["notes"]) == (catalog.email, catalog.email, "Agreed")
    assert [(one["kind"], one["version"]) for one in found["events"]] == [
        ("link_made", None),
        ("link_suspected", 2),
        ("link_confirmed", None),
    ]
    (result,) = found["results"]
    assert (result["status"], result["run"]["commit"], result["run"]["recorded_by"]) == (
        "failed",
        "8f14d3b7",
        catalog.email,
    )
    assert (found["requirement"]["verdict"], found["made_by"], found["notes"]) == ("failed", catalog.email, [])


async def test_its_page_says_the_same_and_runs_nothing(catalog: Any, proved: Json) -> None:
    response = await catalog.get(f"/requirements/{proved['id']}/evidence", format="html")
    assert response.headers["content-security-policy"].startswith("default-src 'none'")
    for said in (
        "Doors &lt;close&gt; early",
        "At once &amp; for all",
        proved["test_case"]["external_id"],
        f"made by {catalog.email}",
        "became suspect: the requirement went to version 2 (title)",
        "The left door stays open.",
        "8f14d3b7",
    ):
        assert said in response.text
    assert "<close>" not in response.text


@pytest.mark.parametrize("form", ["json", "html"])
async def test_people_can_be_hidden(catalog: Any, proved: Json, form: str) -> None:
    response = await catalog.get(f"/requirements/{proved['id']}/evidence", format=form, people="hide")
    assert response.status_code == 200
    assert catalog.email not in response.text


async def test_what_was_deleted_keeps_its_versions_and_what_never_was_has_none(catalog: Any, proved: Json) -> None:
    await catalog.delete(f"/requirements/{proved['id']}")
    found = await catalog.read(f"/requirements/{proved['id']}/evidence")
    assert (len(found["versions"]), found["links"]) == (2, [])
    assert found["events"][-1]["kind"] == "link_removed"
    assert "Doors &lt;close&gt;" in (await catalog.get(f"/requirements/{proved['id']}/evidence", format="html")).text
    problem(await catalog.get("/requirements/00000000-0000-4000-8000-000000000000/evidence"), 404)
