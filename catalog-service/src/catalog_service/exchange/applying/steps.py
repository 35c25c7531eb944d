"""The steps of applying: a kind of row and what becomes of it, each over some rows at a time by one statement."""

from collections.abc import Callable
from dataclasses import dataclass

from catalog_service.exchange.applying import items, links, references, relations
from catalog_service.exchange.applying.job import Job
from catalog_service.items.kinds import KINDS
from chassis.messaging.payloads import Payload
from contracts import catalog


@dataclass(frozen=True, slots=True)
class Step:
    """What is done to the rows of a `kind` and `action`.

    `statement` gives, for a job, the SQL over the rows `batch` that does it and returns as `refused` the positions of
    those that could not be: what they change is not there, or what they create is.
    """

    kind: str
    action: str
    statement: Callable[[Job], str]

    @property
    def needs_target(self) -> bool:
        """Whether it changes or deletes what must be there."""
        return self.action not in {"create", "wait"}


STEPS = (
    *(Step(kind.name, "update", items.update(kind)) for kind in KINDS),
    *(Step(kind.name, "create", items.create(kind)) for kind in KINDS),
    Step("link", "update", links.update),
    Step("link", "create", links.create),
    Step("link", "wait", references.store),
    Step("relation", "update", relations.update),
    Step("relation", "create", relations.create),
    Step("relation", "wait", references.store_relations),
    Step("revision", "create", items.add_revisions),
    Step("reference", "create", references.restore),
    Step("link", "delete", links.delete),
    *(Step(kind.name, "delete", items.delete(kind)) for kind in KINDS),
)
"""In this order: updates first, as an item may leave its external_id to a new one; links when both ends are there."""

RECORDED: tuple[type[Payload], ...] = tuple(
    event
    for event in catalog.EVENTS
    if event.wire_name.split(".")[1] in {"requirement", "test_case", "link", "relation"}
)
"""The events that steps tell."""
