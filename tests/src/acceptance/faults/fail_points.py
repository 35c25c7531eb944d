"""Where programs may die: between every two steps of accepting, publishing and receiving."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from acceptance.faults.crashing import Point
from acceptance.stack import module

ACCEPT = (
    "before:suggestion_service.review.acceptance:begin",
    "after:suggestion_service.review.acceptance:begin",
    "after:suggestion_service.review.acceptance:link",
    "after:suggestion_service.store.suggestions:accept",
    "after:suggestion_service.review.acceptance:finish_linked",
)
"""Nothing yet; the intent is stored; the link is made; the result is written, not committed; committed."""

UNDO = (
    "before:suggestion_service.review.undoing:Undoing._begin",
    "after:suggestion_service.review.undoing:Undoing._begin",
    "after:suggestion_service.review.undoing:unlink",
    "after:suggestion_service.store.suggestions:reopen",
    "after:suggestion_service.review.undoing:Undoing._go_on",
)
"""Nothing yet; the intent is stored; the link is gone; the result is written, not committed; committed."""

MAKE_LINK = (
    "before:catalog_service.links.service:create_accepted",
    "after:catalog_service.links.service:create_accepted",
    "after:catalog_service.links.undoing:undo_reviews",
    "before:catalog_service.links.endpoints:answer",
)
"""Nothing yet; made, or deleted, and not committed; committed and not answered."""

PUBLISH = (
    "after:chassis.messaging.outbox:number",
    "after:chassis.messaging.outbox:read",
    "after:chassis.messaging.bus.rabbitmq:RabbitMQBus.publish",
    "after:chassis.messaging.relay:Relay._move",
)
"""Numbered; read; published and not remembered; remembered."""

RECEIVE = (
    "before:chassis.messaging.inbox:Inbox._apply",
    "before:chassis.messaging.inbox:Inbox._advance",
    "after:chassis.messaging.inbox:Inbox._apply",
    "after:chassis.messaging.inbox:Inbox.receive",
)
"""Delivered; handled and not committed; committed; committed and not acknowledged."""

RECONCILE = (
    "before:suggestion_service.review.acceptance:finish_linked",
    "before:suggestion_service.review.undoing:finish",
)
"""The link of what somebody else began is made, or deleted, and the result not stored."""

_PROGRAMS: dict[str, tuple[str, tuple[str, ...]]] = {
    "suggestion-service": ("suggestion_service.app", (*ACCEPT, *UNDO)),
    "catalog-service": ("catalog_service.app", MAKE_LINK),
    "auth-worker": ("auth_service.worker", PUBLISH),
    "catalog-worker": ("catalog_service.worker", PUBLISH),
    "suggestion-worker": ("suggestion_service.worker", (*PUBLISH, *RECEIVE, *RECONCILE)),
    "notification-worker": ("notification_service.worker", RECEIVE),
}


def overrides(data_dir: Path) -> Mapping[str, Mapping[str, str]]:
    """The overrides of a stack whose programs can die at these points; nothing happens until one is armed."""
    return {
        program: {
            "COMMAND": module(
                "acceptance.faults.crashing", name, "--armed-in", str(_folder(data_dir, program)), *points
            )
        }
        for program, (name, points) in _PROGRAMS.items()
    }


def arm(data_dir: Path, program: str, point: str) -> Path:
    """Have the next process of a program that passes a point die there; return the file that is gone when one did."""
    if point not in _PROGRAMS[program][1]:
        raise ValueError(f"{program} has no point {point}")
    folder = _folder(data_dir, program)
    folder.mkdir(parents=True, exist_ok=True)
    return Point(point).arm(folder)


def of(*programs: str) -> Sequence[tuple[str, str]]:
    """Every (program, point) of these programs, but those that need more than a load to be passed."""
    return [(program, point) for program in programs for point in _PROGRAMS[program][1] if point not in RECONCILE]


def _folder(data_dir: Path, program: str) -> Path:
    return data_dir / "armed" / program
