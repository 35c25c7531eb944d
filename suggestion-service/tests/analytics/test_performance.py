"""The figures about suggestions, computed by hand from known ones."""

from typing import Any
from uuid import uuid4

import pytest

# (score, method, status, hours to the review)
KNOWN = [
    (0.95, "semantic_similarity", "accepted", 1),
    (0.92, "hybrid", "accepted", 2),
    (0.8, "semantic_similarity", "rejected", 3),
    (0.7, "semantic_similarity", "accepted", 10),
    (0.65, "keyword_match", "rejected", 20),
    (0.3, "keyword_match", "rejected", 30),
    (0.5, "hybrid", "pending", None),
    (0.4, "hybrid", "expired", None),
]


async def test_an_empty_queue_has_figures(service: Any) -> None:
    report = await service.read("/analytics/suggestion-performance")
    assert report["totals"] == {"all": 0, "pending": 0, "accepted": 0, "rejected": 0, "expired": 0}
    assert (report["acceptance_rate"], report["median_hours_to_review"], report["by_method"]) == (None, None, [])
    assert [row["threshold"] for row in report["thresholds"]] == [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]


@pytest.mark.requirement("TL-REPT-5")
async def test_the_figures_are_those_of_the_suggestions(service: Any, viewer: Any) -> None:
    for score, method, status, hours in KNOWN:
        await service.rows(
            "INSERT INTO suggestions (id, requirement_id, test_case_id, similarity_score, suggestion_method, status,"
            " created_at, reviewed_at, requirement_text_sequence, test_case_text_sequence)"
            " VALUES (%s, %s, %s, %s, %s, %s, now(), now() + %s * interval '1 hour', 1, 1)",
            *(uuid4(), uuid4(), uuid4(), score, method, status, hours),
        )
    report = (await viewer.get("/analytics/suggestion-performance")).json()

    assert report["totals"] == {"all": 8, "pending": 1, "accepted": 3, "rejected": 3, "expired": 1}
    assert report["acceptance_rate"] == 0.5
    assert report["median_hours_to_review"] == pytest.approx(6.5)
    methods = {row["method"]: row for row in report["by_method"]}
    assert {name: row["acceptance_rate"] for name, row in methods.items()} == {
        "semantic_similarity": pytest.approx(2 / 3),
        "keyword_match": 0.0,
        "hybrid": 1.0,
    }
    assert methods["hybrid"]["totals"] == {"all": 3, "pending": 1, "accepted": 1, "rejected": 0, "expired": 1}
    assert {row["band"]: (row["totals"]["all"], row["acceptance_rate"]) for row in report["by_band"]} == {
        "very_high": (2, 1.0),
        "high": (1, 0.0),
        "moderate": (2, 0.5),
        "low": (3, 0.0),
    }
    assert {row["threshold"]: (row["accepted"], row["rejected"]) for row in report["thresholds"]} == {
        0.1: (3, 3),
        0.2: (3, 3),
        0.3: (3, 3),
        0.4: (3, 2),
        0.5: (3, 2),
        0.6: (3, 2),
        0.7: (3, 1),
        0.8: (2, 1),
        0.9: (2, 0),
    }
    assert report["thresholds"][8]["acceptance_rate"] == 1.0
    assert report["thresholds"][6]["acceptance_rate"] == 0.75
