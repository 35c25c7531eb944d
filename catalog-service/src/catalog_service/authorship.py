"""How a caller is named in the fields that say who did it."""

from chassis.db.erasure import LONGEST_AUTHOR
from chassis.messaging.events import Actor


def author(actor: Actor) -> str:
    """Return the email of who did it, cut to what `created_by` and its like can hold."""
    return actor.email[:LONGEST_AUTHOR]
