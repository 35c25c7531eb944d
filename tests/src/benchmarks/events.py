"""Events as catalog-service tells them of a burst of creates."""

import uuid
from datetime import UTC, datetime
from typing import Any

from benchmarks.texts import Texts
from chassis.messaging.events import Actor, NewEvent
from contracts import catalog

_AUTHOR = Actor(7, "author@bench.test")
_TEST_CASE_ALONE = {
    "preconditions": None,
    "postconditions": None,
    "test_data": None,
    "automation_status": "manual",
    "execution_time_minutes": None,
}


def creates(texts: Texts, count: int) -> list[NewEvent]:
    """Return the events of `count` creates: requirements and test cases in turns."""
    events: list[NewEvent] = []
    for number in range(0, count, 2):
        requirement = texts.requirement(number, "REQ")
        test_case = texts.test_case(number, "TC", requirement)
        told = (
            catalog.RequirementCreated(requirement=catalog.RequirementState(**_item(requirement))),
            catalog.TestCaseCreated(test_case=catalog.TestCaseState(**_item(test_case), **_TEST_CASE_ALONE)),
        )
        events += (NewEvent(data, str(uuid.uuid4()), _AUTHOR, correlation_id=str(uuid.uuid4())) for data in told)
    return events[:count]


def _item(body: dict[str, Any]) -> dict[str, Any]:
    now = datetime.now(UTC)
    return {
        "id": uuid.uuid4(),
        "status": "active",
        "tags": [],
        "custom_metadata": None,
        "source_system": None,
        "source_url": None,
        "created_by": _AUTHOR.email,
        "version": 1,
        "created_at": now,
        "updated_at": now,
        **body,
    }
