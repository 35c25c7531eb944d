"""What an event says, as a type: nothing here is needed to send it."""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict


class Payload(BaseModel):
    """Base of every published event: a past-tense fact with an explicit wire name."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    wire_name: ClassVar[str]
    """Name on the wire, `<source>.<thing>.<what happened>`, never a class path."""

    @classmethod
    def keys_of(cls, envelope: Mapping[str, Any]) -> Iterable[str]:
        """Return the keys of what an event tells of: the thing, if it tells the whole state of that.

        A pruned feed keeps the last event of each key: whoever keeps a copy needs no other.
        """
        return (cls._thing(envelope),)

    @classmethod
    def _thing(cls, envelope: Mapping[str, Any]) -> str:
        return f"{cls.wire_name.rpartition('.')[0]} {envelope['subject']}"


class Alteration(Payload):
    """Base of events that tell a thing as it is after a change.

    The event by which it was created stays beside the last of them: what refers to the thing comes after it in every
    feed, and nothing is changed that was not created.
    """

    @classmethod
    def keys_of(cls, envelope: Mapping[str, Any]) -> Iterable[str]:
        """Return the key of its changes."""
        return (f"changes of {cls._thing(envelope)}",)


class Ending(Payload):
    """Base of events by which a thing ends."""

    @classmethod
    def keys_of(cls, envelope: Mapping[str, Any]) -> Iterable[str]:
        """Return the key of the thing, and that of its changes."""
        thing = cls._thing(envelope)
        return thing, f"changes of {thing}"


class Momentary(Payload):
    """Base of events that nobody keeps a copy of: a pruned feed keeps none of them."""

    @classmethod
    def keys_of(cls, envelope: Mapping[str, Any]) -> Iterable[str]:
        """Return none."""
        return ()
