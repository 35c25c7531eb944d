"""What a service does about people who are erased."""

from collections.abc import Sequence

from chassis.db import erasure
from chassis.db.database import Connection
from chassis.db.erasure import Person
from chassis.messaging.events import Received
from contracts.auth import Former, UserErased


def person(user_id: int, former: Former) -> Person:
    """Return who is erased, as an event tells of them."""
    return Person(user_id, former.email, former.full_names)


async def erase_people(connection: Connection, events: Sequence[Received[UserErased]]) -> None:
    """Take the person of each event out of all that the service keeps; nothing is left to do once that is known."""
    for event in events:
        if event.data.former is not None:
            await erasure.erase(connection, person(event.data.user.id, event.data.former))
