"""Events as catalog-service tells them of a burst of creates."""

import uuid
from datetime import UTC, datetime
from typing import Any

from benchmarks.texts import Texts
from chassis.messaging.events import Actor, NewEvent
from contracts import catalog
from testing import factories

_AUTHOR = Actor(7, "author@bench.test")


def creates(texts: Texts, count: int) -> list[NewEvent]:
    """Return the events of `count` creates: requirements and test cases in turns."""
    events: list[NewEvent] = []
    for number in range(0, count, 2):
        requirement = texts.requirement(number, "REQ")
        test_case = texts.test_case(number, "TC", requirement)
        told = (
            catalog.RequirementCreated(requirement=factories.requirement(**_item(requirement))),
            catalog.TestCaseCreated(test_case=factories.test_case(**_item(test_case), execution_time_minutes=None)),
        )
        events += (NewEvent(data, str(uuid.uuid4()), _AUTHOR, correlation_id=str(uuid.uuid4())) for data in told)
    return events[:count]


def _item(body: dict[str, Any]) -> dict[str, Any]:
    now = datetime.now(UTC)
    plain: dict[str, Any] = {"status": "active", "tags": [], "custom_metadata": None, "created_by": _AUTHOR.email}
    return plain | {"created_at": now, "updated_at": now} | body
