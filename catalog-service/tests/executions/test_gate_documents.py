"""A gate as a document: its figures are of the kind of what they are held against."""

from datetime import UTC, datetime
from typing import Any

import pytest

from catalog_service.executions.gate_documents import as_markdown
from catalog_service.executions.gate_outcomes import judged
from catalog_service.executions.gate_runs import Outcome


@pytest.mark.parametrize(
    ("rule", "limit", "actual", "shown"),
    [
        ("no_new_failures", True, 1, "0 | 1"),
        ("require_run", True, False, "yes | no"),
        ("max_run_age_hours", 24.0, False, "24 | nothing"),
        ("max_failed", 0.0, 3, "0 | 3"),
        ("min_verified", 80.0, 66.67, "80 | 66.67"),
    ],
)
def test_limit_and_figure_are_of_one_kind(rule: str, limit: float | bool, actual: float | bool, shown: str) -> None:
    gate: dict[str, Any] = {
        "passed": False,
        "rules": [judged(rule, limit, {}, Outcome(actual, False, "Why."))],
        "branch": "main",
        "commit": None,
        "runs": [],
        "warnings": [],
        "evaluated_at": datetime.now(UTC),
        "accepted": {"items": [], "total": 0},
        "older": {"items": [], "total": 0},
    }
    assert f"| ❌ | {rule} | {shown} | Why. |" in as_markdown(gate).decode()
