"""Make states and events for tests: each field has a plausible value unless the test names another."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from chassis.messaging.events import Actor
from contracts import auth, catalog, suggestion

CREATED_AT = datetime(2026, 1, 31, 12, tzinfo=UTC)
AUTHOR = "ana@example.com"


def requirement(**fields: Any) -> catalog.RequirementState:
    """Return a requirement of version 1."""
    return catalog.RequirementState(**_item() | fields)


def test_case(**fields: Any) -> catalog.TestCaseState:
    """Return a test case of version 1."""
    own = {
        "external_id": None,
        "title": "Fail five times",
        "steps": {"1": "Fail.", "2": "Repeat."},
        "preconditions": None,
        "postconditions": None,
        "test_data": None,
        "automation_status": "manual",
        "execution_time_minutes": 5,
    }
    return catalog.TestCaseState(**_item() | own | fields)


test_case.__test__ = False  # type: ignore[attr-defined]  # pytest: not a test, wherever it is imported


def link(**fields: Any) -> catalog.LinkState:
    """Return a link that was made by hand and never confirmed."""
    state = {
        "id": uuid4(),
        **_pair(),
        "link_type": "covers",
        "link_source": "manual",
        "confidence_score": 1.0,
        "notes": None,
        "created_at": CREATED_AT,
        "created_by": AUTHOR,
        "confirmed_at": None,
        "confirmed_by": None,
        "test_case_external_id": "TC-7",
    }
    return catalog.LinkState(**state | fields)


def coverage_dropped(**fields: Any) -> catalog.CoverageDropped:
    """Return a drop from 80 % to just below."""
    state = {"coverage": 0.79999, "threshold": 0.8, "covered_requirements": 79999, "total_requirements": 100000}
    return catalog.CoverageDropped(**state | fields)


def accepted_failure(**fields: Any) -> catalog.AcceptedFailureState:
    """Return the failure of a test that is accepted until Christmas."""
    state = {
        "id": uuid4(),
        "automated_test_id": 17,
        "test_name": "tests.doors.close",
        "test_case_id": None,
        "test_case_external_id": None,
        "test_case_title": None,
        "issue_url": None,
        "reason": "The supplier mends it.",
        "until": datetime(2026, 12, 24, 23, 59, 59, tzinfo=UTC),
        "created_by": "ana@example.com",
        "created_at": CREATED_AT,
    }
    return catalog.AcceptedFailureState(**state | fields)


def reviewed(status: str = "accepted", **fields: Any) -> suggestion.ReviewedSuggestion:
    """Return a suggestion after its review; an accepted one has a link."""
    return suggestion.ReviewedSuggestion(**_suggestion(status) | fields)


def reopened(**fields: Any) -> suggestion.ReopenedSuggestion:
    """Return a suggestion whose acceptance was undone."""
    review = {"reviewed_by": "kim@example.com", "reviewed_at": CREATED_AT, "review_id": UUID(int=7)}
    return suggestion.ReopenedSuggestion(**_suggestion("accepted") | review | fields)


def run_finished(**fields: Any) -> suggestion.RunFinished:
    """Return the end of a run that made suggestions."""
    state = {
        "run_id": uuid4(),
        "status": "completed",
        "algorithm": "tfidf",
        "threshold": 0.3,
        "pairs_analyzed": 600,
        "suggestions_created": 12,
        "suggestions_skipped": 30,
        "error": None,
    }
    return suggestion.RunFinished(**state | fields)


def item_suggestions_generated(**fields: Any) -> suggestion.ItemSuggestionsGenerated:
    """Return what the background found for a requirement."""
    state = {
        "item_type": "requirement",
        "item_id": uuid4(),
        "item_title": "Lock the account",
        "item_external_id": "REQ-1",
        "algorithm": "tfidf",
        "threshold": 0.3,
        "suggestions_created": 3,
        "suggestions_skipped": 1,
    }
    return suggestion.ItemSuggestionsGenerated(**state | fields)


def user(actor: Actor, role: str = "viewer", **fields: Any) -> auth.UserState:
    """Return an active user, named after the address."""
    state = {
        "id": actor.id,
        "email": actor.email,
        "full_name": actor.email.partition("@")[0].title(),
        "role": role,
        "is_active": True,
        "tokens_not_before": CREATED_AT,
    }
    return auth.UserState(**state | fields)


def _item() -> dict[str, Any]:
    return {
        "id": uuid4(),
        "external_id": "REQ-1",
        "title": "Lock the account",
        "description": "After five failures.",
        "type": "functional",
        "priority": "high",
        "status": "draft",
        "module": None,
        "tags": ["login"],
        "custom_metadata": {"origin": {"page": 7}},
        "source_system": None,
        "source_url": None,
        "created_by": AUTHOR,
        "version": 1,
        "created_at": CREATED_AT,
        "updated_at": CREATED_AT,
    }


def relation(**fields: Any) -> catalog.RelationState:
    """A requirement below another."""
    state = {
        "id": uuid4(),
        "child_id": uuid4(),
        "parent_id": uuid4(),
        "relation_type": "refines",
        "role": None,
        "notes": None,
        "source": "manual",
        "created_at": CREATED_AT,
        "created_by": AUTHOR,
        "confirmed_at": None,
        "confirmed_by": None,
        "updated_at": CREATED_AT,
        "child_title": "Lock the account",
        "parent_title": "Accounts are safe",
        "child_external_id": "REQ-2",
        "parent_external_id": None,
    }
    return catalog.RelationState(**state | fields)


def _pair() -> dict[str, Any]:
    return {
        "requirement_id": uuid4(),
        "test_case_id": uuid4(),
        "requirement_title": "Lock the account",
        "test_case_title": "Fail five times",
        "requirement_external_id": "REQ-1",
    }


def _suggestion(status: str) -> dict[str, Any]:
    return {
        "id": uuid4(),
        **_pair(),
        "similarity_score": 0.734512,
        "suggestion_method": "semantic_similarity",
        "status": status,
        "feedback": "Fits.",
        "link_id": uuid4() if status == "accepted" else None,
    }
