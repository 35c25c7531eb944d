"""Events: a typed payload in a CloudEvents 1.0 envelope."""

import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar

import orjson

from chassis.core import projects
from chassis.core.identity import Identity
from chassis.core.request_context import gateway_request_id, request_id
from chassis.messaging.payloads import Payload
from chassis.observability import telemetry
from chassis.observability.logs import describe

P = TypeVar("P", bound=Payload)


@dataclass(frozen=True, slots=True)
class Actor:
    """Who did it: a user, or the system itself (no id).

    `at_page`: in the page, with their own hands. What that sets off in the background is done for them, not by them.
    """

    id: int | None
    email: str
    at_page: bool = False


SYSTEM = Actor(None, "system")


def actor_of(identity: Identity) -> Actor:
    """Return the actor that a caller is."""
    return Actor(identity.id, identity.email, identity.at_page)


@dataclass(frozen=True, slots=True)
class Received(Generic[P]):
    """An event as a handler gets it.

    `sequence` is the position in the feed of its source (from 1, without gaps until it is pruned): the order key.
    `correlation_id` is the id of the request that began it all, `gateway_request_id` the one that its caller could not
    choose; empty where that is not known any more. `batch_id` is that of the batch that it is one of many of, if any.
    `project` is the key of the project in which it happened; MAIN for what happened to the installation.
    """

    id: uuid.UUID
    source: str
    sequence: int
    time: datetime
    actor: Actor
    correlation_id: str
    data: P
    gateway_request_id: str = ""
    batch_id: uuid.UUID | None = None
    project: str = projects.MAIN


@dataclass(frozen=True, slots=True)
class NewEvent:
    """An event about to be recorded in the outbox, together with the change that it tells of.

    `gateway_request_id` is that of the request which is worked on, unless the event belongs to another one. `batch_id`
    names the batch of changes that it is one of many of, whose end has an event of its own.
    """

    data: Payload
    subject: str
    actor: Actor
    causation_id: str | None = None
    id: uuid.UUID = field(default_factory=uuid.uuid4)
    time: datetime = field(default_factory=lambda: datetime.now(UTC))
    correlation_id: str = field(default_factory=request_id.get)
    traceparent: str | None = field(default_factory=telemetry.traceparent)
    gateway_request_id: str | None = None
    batch_id: uuid.UUID | None = None
    project: str = field(default_factory=projects.key_or_none)

    def __post_init__(self) -> None:
        if self.gateway_request_id is None and self.correlation_id == request_id.get():
            object.__setattr__(self, "gateway_request_id", gateway_request_id.get())

    @property
    def wire_name(self) -> str:
        """The event's type on the wire."""
        return self.data.wire_name

    def envelope(self) -> bytes:
        """Return the structured CloudEvents JSON, still without its sequence."""
        return (
            orjson.dumps(self.attributes(), option=orjson.OPT_UTC_Z)[:-1]
            + b',"data":'
            + self.data.__pydantic_serializer__.to_json(self.data)
            + b"}"
        )

    def attributes(self) -> dict[str, Any]:
        """Return the CloudEvents attributes, without the sequence and the data."""
        head: dict[str, Any] = {
            "specversion": "1.0",
            "id": self.id,
            "source": f"/traceline/{self.wire_name.partition('.')[0]}",
            "type": self.wire_name,
            "subject": self.subject,
            "time": self.time,
            "datacontenttype": "application/json",
            "correlationid": self.correlation_id,
            "actor": self.actor.email,
        }
        if self.project:
            head["project"] = self.project
        if self.gateway_request_id:
            head["gatewayrequestid"] = self.gateway_request_id
        if self.actor.id is not None:
            head["actorid"] = self.actor.id
        if self.actor.at_page:
            head["atpage"] = True
        if self.causation_id is not None:
            head["causationid"] = self.causation_id
        if self.traceparent is not None:
            head["traceparent"] = self.traceparent
        if self.batch_id is not None:
            head["batchid"] = self.batch_id
        return head


def sequenced(sequence: int, envelope: bytes) -> bytes:
    """Return the envelope with its place in the feed."""
    return b'{"sequence":%d,%s' % (sequence, envelope[1:])


class UndecodableMessage(ValueError):
    """The message is no event that this reader knows; trying again cannot help."""


@dataclass(frozen=True, slots=True)
class Message:
    """A message as it came: the envelope read, the payload not yet. Nothing of its feed lies between it and `after`."""

    raw: bytes
    id: uuid.UUID
    source: str
    wire_name: str
    sequence: int
    after: int
    attributes: dict[str, Any]
    project: str = projects.MAIN

    @classmethod
    def read(cls, raw: bytes) -> "Message":
        """Read the envelope; raise UndecodableMessage when it is none."""
        try:
            attributes = orjson.loads(raw)
            wire_name, sequence = attributes["type"], int(attributes["sequence"])
            # What the database cannot store would be taken for a fault of the database, for ever.
            if not isinstance(wire_name, str) or "\0" in wire_name or not 0 < sequence < 2**63:
                raise ValueError("type or sequence")
            return cls(
                raw,
                uuid.UUID(attributes["id"]),
                attributes["source"].removeprefix("/traceline/"),
                wire_name,
                sequence,
                sequence - 1,
                attributes,
                attributes.get("project", projects.MAIN),
            )
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise UndecodableMessage(f"Not an event envelope: {error!r}") from None

    def decode(self, payload: type[P]) -> Received[P]:
        """Read the payload; raise UndecodableMessage when it does not fit `payload`."""
        attributes = self.attributes
        try:
            batch = attributes.get("batchid")
            return Received(
                self.id,
                self.source,
                self.sequence,
                datetime.fromisoformat(attributes["time"]),
                Actor(attributes.get("actorid"), attributes["actor"], attributes.get("atpage", False)),
                attributes.get("correlationid", ""),
                payload.model_validate(attributes["data"]),
                attributes.get("gatewayrequestid", ""),
                None if batch is None else uuid.UUID(batch),
                self.project,
            )
        except (ValueError, KeyError, TypeError) as error:
            raise UndecodableMessage(f"Not a {self.wire_name}: {describe(error)}") from None
