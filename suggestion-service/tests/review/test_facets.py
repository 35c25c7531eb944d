"""Facets of the review queue: how many suggestions each value would find, under the filters of the list."""

from typing import Any

import pytest

from testing.service import problem

PUMP = "the pump stops when the tank is full"


@pytest.fixture
async def queue(service: Any, catalog: Any) -> list[str]:
    """Three suggestions, from strong to weak; the ids of the last two are reviewed: rejected and expired."""
    catalog.requirement(PUMP, module="pumps")
    for more, module in (("", "pumps"), ("slowly", "tanks"), ("slowly while lamps burn", None)):
        catalog.test_case(f"{PUMP} {more}".strip(), module=module)
    await service.generate(threshold=0)
    ids = [one["id"] for one in await service.suggestions(sort="score:desc")]
    assert len(ids) == 3
    await service.post(f"/suggestions/{ids[1]}/reject")
    await service.rows("UPDATE suggestions SET status = 'expired' WHERE id = %s", ids[2])
    await service.rows(
        "UPDATE suggestions SET similarity_score = 0.95, suggestion_method = 'hybrid' WHERE id = %s", ids[0]
    )
    await service.rows("UPDATE suggestions SET similarity_score = 0.8 WHERE id = %s", ids[1])
    return ids


async def counts(service: Any, **params: Any) -> dict[str, Any]:
    found = await service.read("/suggestions/facets", **params)
    by_name = {name: {one["value"]: one["count"] for one in values} for name, values in found["facets"].items()}
    return {"total": found["total"], **by_name}


async def test_suggestions_are_counted_by_what_they_are_filtered_by(service: Any, queue: Any, viewer: Any) -> None:
    assert await counts(service) == {
        "total": 2,
        "module": {"pumps": 2, "tanks": 1},
        "band": {"very_high": 1, "high": 1},
        "method": {"hybrid": 1, "semantic_similarity": 1},
        "status": {"pending": 1, "rejected": 1, "expired": 1},
    }
    assert (await viewer.read("/suggestions/facets", facets="band"))["total"] == 2


@pytest.mark.parametrize("filters", [{}, {"status": "pending,expired"}, {"module": "tanks"}, {"method": "tfidf"}])
async def test_each_count_is_what_the_list_finds_with_that_value(service: Any, queue: Any, filters: Any) -> None:
    found = await counts(service, **filters)
    assert found.pop("total") == (await service.read("/suggestions", **filters))["total"]
    for name, values in found.items():
        for value, count in values.items():
            chosen = filters | {name: '""' if value is None else value}
            assert (await service.read("/suggestions", **chosen))["total"] == count, (name, value)


async def test_other_filters_narrow_every_facet(service: Any, queue: Any) -> None:
    assert await counts(service, search="slowly", facets="module,status") == {
        "total": 1,
        "module": {"pumps": 1, "tanks": 1},
        "status": {"rejected": 1, "expired": 1},
    }


async def test_what_facets_do_not_know_is_refused(service: Any) -> None:
    problem(await service.http.get("/suggestions/facets?facets=score"), 422, field="/query/facets")
    problem(await service.http.get("/suggestions/facets?sort=score"), 422, field="/query/sort")
