"""A user of RabbitMQ a service, which may do what that service does and nothing else.

Written as definitions that the broker loads at each start. Needs nothing but Python's own library: what makes secrets
reads this file by itself.
"""

import base64
import hashlib
import re
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

VHOST = "traceline"
NAME = "traceline"
"""What exchange and queues begin with."""

_NOTHING = "^$"


@dataclass(frozen=True, slots=True)
class User:
    """A service, by the first word of its events and of its queues, and the sources that its queue is bound to."""

    name: str
    follows: tuple[str, ...] = ()
    publishes: bool = True


def users(follows: Mapping[str, Iterable[str]]) -> list[User]:
    """Return the user of each service; who publishes is whom another follows."""
    followed = {source for sources in follows.values() for source in sources}
    return [User(name, tuple(sorted(sources)), name in followed) for name, sources in follows.items()]


def definitions(passwords: Mapping[User, str], *, operator_password: str | None = None) -> dict[str, Any]:
    """Return what the broker loads: the vhost, each user with its password, and what it may do.

    With `operator_password` there is an administrator, `traceline`, too.
    """
    people = [_login(user.name, password) for user, password in passwords.items()]
    permissions = [_permission(user) for user in passwords]
    if operator_password is not None:
        people.append(_login("traceline", operator_password, "administrator"))
        everything = {"configure": ".*", "write": ".*", "read": ".*"}
        permissions.append({"user": "traceline", "vhost": VHOST, **everything})
    return {
        "vhosts": [{"name": VHOST}],
        "users": people,
        "permissions": permissions,
        "topic_permissions": [_topics(user) for user in passwords],
    }


def _permission(user: User) -> dict[str, str]:
    """Return what it may declare, write to and read from: what begins with its name, and the exchange of events.

    A queue is bound by who may write to the queue and read from the exchange.
    """
    own = rf"{NAME}\.{re.escape(user.name)}(\..+)?"
    both = rf"^({NAME}\.events|{own})$"
    return {
        "user": user.name,
        "vhost": VHOST,
        "configure": both,
        "write": both if user.publishes else f"^{own}$",
        "read": both if user.follows else f"^{own}$",
    }


def _topics(user: User) -> dict[str, str]:
    """Return which events it may publish, by their wire names, and which its queue may be bound to."""
    return {
        "user": user.name,
        "vhost": VHOST,
        "exchange": f"{NAME}.events",
        "write": rf"^{re.escape(user.name)}\." if user.publishes else _NOTHING,
        "read": rf"^({'|'.join(map(re.escape, user.follows))})\.#$" if user.follows else _NOTHING,
    }


def _login(name: str, password: str, *tags: str) -> dict[str, Any]:
    """Return a user whose password is said by its salted SHA-256, as RabbitMQ stores it."""
    salt = secrets.token_bytes(4)
    salted = base64.b64encode(salt + hashlib.sha256(salt + password.encode()).digest()).decode()
    algorithm = "rabbit_password_hashing_sha256"
    return {"name": name, "password_hash": salted, "hashing_algorithm": algorithm, "tags": ",".join(tags)}
