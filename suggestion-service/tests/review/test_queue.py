"""Reading the review queue: what a suggestion shows, filters, sorts, pages."""

from itertools import pairwise
from typing import Any
from uuid import UUID

import pytest

PUMP = "the pump stops when the tank is full"
UNKNOWN = "00000000-0000-4000-8000-000000000000"


@pytest.fixture
async def queue(service: Any, catalog: Any) -> list[dict[str, Any]]:
    """Four suggestions of one requirement, from strong to weak; the last was made by keywords."""
    catalog.requirement(PUMP, external_id="REQ-1", module="pumps")
    for more in ("", "slowly", "slowly while lamps burn", "so that cold water leaves seven green cellars"):
        catalog.test_case(f"{PUMP} {more}".strip())
    await service.generate(threshold=0)
    await service.rows(
        "UPDATE suggestions SET suggestion_method = 'keyword_match' WHERE similarity_score ="
        " (SELECT min(similarity_score) FROM suggestions)"
    )
    found = await service.suggestions(sort="score:desc")
    assert len(found) == 4
    return list(found)


async def test_a_suggestion_shows_its_pair_and_band(service: Any, queue: Any, viewer: Any) -> None:
    best = queue[0]
    assert best["requirement"] == {
        "id": best["requirement_id"],
        "external_id": "REQ-1",
        "title": PUMP,
        "module": "pumps",
    }
    assert best["test_case"] == {"id": best["test_case_id"], "external_id": None, "title": PUMP, "module": None}
    assert best["created_at"].endswith("Z")
    assert [best[name] for name in ("reviewed_at", "reviewed_by", "feedback", "link_id", "review_id")] == [None] * 5
    response = await viewer.get(f"/suggestions/{best['id']}")
    assert response.json() == best
    same = await viewer.get(f"/suggestions/{best['id']}", headers={"If-None-Match": response.headers["etag"]})
    assert same.status_code == 304


@pytest.mark.parametrize(
    ("score", "band"),
    [
        (1.0, "very_high"),
        (0.9, "very_high"),
        (0.899999, "high"),
        (0.75, "high"),
        (0.749999, "moderate"),
        (0.6, "moderate"),
        (0.599999, "low"),
        (0.0, "low"),
    ],
)
async def test_the_band_follows_the_score(service: Any, queue: Any, score: float, band: str) -> None:
    await service.rows("UPDATE suggestions SET similarity_score = %s", score)
    assert {found["band"] for found in await service.suggestions()} == {band}


async def test_filters_narrow_and_combine(service: Any, queue: Any) -> None:
    ids = [suggestion["id"] for suggestion in queue]
    scores = [suggestion["similarity_score"] for suggestion in queue]
    await service.post(f"/suggestions/{ids[0]}/reject")
    await service.rows("UPDATE suggestions SET status = 'expired' WHERE id = %s", ids[1])

    async def found(**filters: Any) -> list[str]:
        return [suggestion["id"] for suggestion in await service.suggestions(sort="score:desc", **filters)]

    assert await found() == [ids[0], ids[2], ids[3]]
    assert await found(status="pending") == [ids[2], ids[3]]
    assert await found(status="rejected,expired") == [ids[0], ids[1]]
    assert await found(status="!pending") == [ids[0], ids[1]]
    assert await found(min_score=scores[2]) == [ids[0], ids[2]]
    assert await found(max_score=scores[2]) == [ids[2], ids[3]]
    assert await found(method="keyword_match,hybrid") == [ids[3]]
    assert await found(method="!keyword_match") == [ids[0], ids[2]]
    assert await found(test_case_id=f"{queue[2]['test_case_id']},{queue[3]['test_case_id']}") == [ids[2], ids[3]]
    assert await found(test_case_id=f"!{queue[2]['test_case_id']}") == [ids[0], ids[3]]
    assert await found(requirement_id=UNKNOWN) == []
    assert await found(search="LAMPS burn") == [ids[2]]
    assert await found(search="req-1") == [ids[0], ids[2], ids[3]]
    assert await found(search="%") == []
    assert await found(search="lamps", status="rejected") == []


async def test_filters_find_by_module_band_method_text_and_reviewer(service: Any, catalog: Any, queue: Any) -> None:
    ids = [suggestion["id"] for suggestion in queue]

    async def found(**filters: Any) -> list[str]:
        return [suggestion["id"] for suggestion in await service.suggestions(sort="score:desc", **filters)]

    assert await found(method="keyword") == [ids[3]]
    assert await found(method="tfidf,keyword") == ids
    assert await found(method="!tfidf") == [ids[3]]
    assert await found(module="pumps") == ids
    assert await found(module="!pumps") == await found(module="pump") == []
    catalog.change(UUID(queue[1]["test_case_id"]), module="valves", steps={"1": "Close the flood gate"})
    await service.follow()
    assert await found(module="valves") == await found(search="FLOOD gate") == [ids[1]]
    assert await found(module="valves,pumps") == ids
    assert await found(module="!valves") == [ids[0], ids[2], ids[3]]
    catalog.change(UUID(queue[1]["test_case_id"]), module="Zahlung, Käse & Co")
    await service.follow()
    assert await found(module='"Zahlung, Käse & Co"') == [ids[1]]
    assert await found(module='!"Zahlung, Käse & Co"') == [ids[0], ids[2], ids[3]]
    assert await found(module='""') == [ids[0], ids[2], ids[3]], "test cases without a module"
    assert await found(search="description") == [], "the names of fields are no text"
    await service.rows("UPDATE suggestions SET similarity_score = 0.95")
    await service.rows("UPDATE suggestions SET similarity_score = 0.7 WHERE id = %s", ids[2])
    assert await found(band="moderate") == await found(band="!very_high") == [ids[2]]
    assert set(await found(band="very_high,moderate")) == set(ids)
    rejected = await service.post(f"/suggestions/{ids[0]}/reject")
    moment = rejected["reviewed_at"]
    assert await found(reviewed_by="Reviewer@example.test") == await found(reviewed_since=moment) == [ids[0]]
    assert await found(reviewed_by="somebody@example.test") == await found(reviewed_since="2999-01-01") == []
    assert set(await found(reviewed_by="!reviewer@example.test")) == set(ids[1:])
    assert set(await found(reviewed_by='""')) == set(ids[1:])
    assert await found(reviewed_by='!""') == [ids[0]]


async def test_the_relevance_is_shown_and_the_best_come_first(service: Any, queue: Any) -> None:
    by_relevance = await service.suggestions(sort="relevance")
    assert [found["id"] for found in by_relevance] == [suggestion["id"] for suggestion in queue]
    assert all(better["relevance"] > worse["relevance"] for better, worse in pairwise(by_relevance))
    assert await service.suggestions(sort="relevance:asc") == by_relevance[::-1]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("status", "maybe"),
        ("status", "pending,"),
        ("method", "magic"),
        ("sort", "reason"),
        ("sort", "score:up"),
        ("min_score", "1.1"),
        ("max_score", "nan"),
        ("requirement_id", "x"),
        ("test_case_id", "!"),
        ("skip", "-1"),
        ("limit", "501"),
        ("band", "huge"),
        ("reviewed_since", "yesterday"),
        ("search", "x" * 201),
    ],
)
async def test_a_query_out_of_its_values_is_refused(service: Any, name: str, value: str) -> None:
    response = await service.http.get("/suggestions", params={name: value})
    assert response.status_code == 422
    assert response.json()["errors"][0]["pointer"] == f"/query/{name}"


async def test_sorts_and_pages_give_everything_once(service: Any, queue: Any) -> None:
    await service.rows("UPDATE suggestions SET similarity_score = 0.5")
    for sort in ("score:desc", "score:asc", "relevance:desc", "created_at:desc", "created_at", None):
        order = {"sort": sort} if sort else {}
        pages = [await service.read("/suggestions", skip=skip, limit=1, **order) for skip in range(5)]
        assert [page["total"] for page in pages] == [4] * 5
        assert [len(page["items"]) for page in pages] == [1, 1, 1, 1, 0]
        assert {page["items"][0]["id"] for page in pages[:4]} == {suggestion["id"] for suggestion in queue}
        behind = [page["next_after"] for page in pages]
        assert behind[3:] == [None, None]
        after = [await service.read("/suggestions", after=position, limit=1, **order) for position in behind[:3]]
        assert [page["items"] for page in after] == [page["items"] for page in pages[1:4]]
        assert [page["next_after"] for page in after] == behind[1:4]
    response = await service.http.get("/suggestions", params={"skip": 1, "limit": 1, "status": "pending"})
    assert response.headers["link"] == (
        '</api/v1/suggestions?status=pending&skip=2&limit=1>; rel="next", '
        '</api/v1/suggestions?status=pending&skip=0&limit=1>; rel="prev"'
    )


@pytest.mark.parametrize("sort", ["score:desc", "relevance", "created_at:asc"])
async def test_whoever_empties_the_queue_while_reading_it_sees_everything_once(
    service: Any, queue: Any, sort: str
) -> None:
    params = {"status": "pending", "limit": 1, "sort": sort}
    page = await service.read("/suggestions", **params)
    seen = [page["items"][0]["id"]]
    while page["next_after"] is not None:
        await service.post(f"/suggestions/{seen[-1]}/reject")
        page = await service.read("/suggestions", **params, after=page["next_after"])
        seen.append(page["items"][0]["id"])
    assert sorted(seen) == sorted(suggestion["id"] for suggestion in queue)


async def test_the_newest_come_first(service: Any, queue: Any) -> None:
    await service.rows("UPDATE suggestions SET created_at = now() - similarity_score * interval '1 day'")
    times = [found["created_at"] for found in await service.suggestions()]
    assert all(later > earlier for later, earlier in pairwise(times))


async def test_what_is_not_there_is_not_found(service: Any) -> None:
    for method, path in (("GET", ""), ("POST", "/accept"), ("POST", "/reject")):
        response = await service.http.request(method, f"/suggestions/{UNKNOWN}{path}")
        assert (response.status_code, response.json()["code"]) == (404, "suggestion_not_found")


async def test_a_viewer_reviews_nothing(queue: Any, viewer: Any) -> None:
    for path in (f"{queue[0]['id']}/accept", f"{queue[0]['id']}/reject", "bulk-review"):
        assert (await viewer.post(f"/suggestions/{path}")).status_code == 403


async def test_the_best_of_each_requirement_can_be_asked_for_and_counts_say_both(service: Any, catalog: Any) -> None:
    for text in (PUMP, "a lamp burns in the hall"):
        catalog.requirement(text)
        for number in range(4):
            catalog.test_case(f"{text} {number * 'again once more '}test{number}")
    await service.generate(threshold=0)
    everything = await service.suggestions(sort="score:desc")
    best = await service.read("/suggestions", sort="score:desc", per_requirement=3)
    of_each: dict[str, list[str]] = {}
    for one in everything:
        of_each.setdefault(one["requirement_id"], []).append(one["id"])
    shown = {one for ids in of_each.values() for one in ids[:3]}
    assert [one["id"] for one in best["items"]] == [one["id"] for one in everything if one["id"] in shown]
    assert (best["total"], best["total_of_all"]) == (6, len(everything))
    assert {one["more_of_requirement"] for one in best["items"]} == {len(ids) - 3 for ids in of_each.values()}
    # Who has decided about the best sees the next.
    await service.post(f"/suggestions/{best['items'][0]['id']}/reject")
    later = await service.read("/suggestions", status="pending", per_requirement=3)
    assert later["total"] == 6
    whole = await service.read("/suggestions")
    assert whole["total"] == whole["total_of_all"] == len(everything)
    assert "more_of_requirement" not in whole["items"][0]
    response = await service.http.get("/suggestions?per_requirement=0")
    assert response.json()["errors"][0]["pointer"] == "/query/per_requirement"
