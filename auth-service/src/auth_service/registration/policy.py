"""The mode of registration (REGISTRATION), and what it refuses."""

from dataclasses import dataclass
from enum import StrEnum
from ipaddress import ip_address

from auth_service.throttle import hourly
from chassis.core.problems import Forbidden
from chassis.db.database import Database


class Mode(StrEnum):
    OPEN = "open"
    DOMAINS = "domains"
    INVITED = "invited"
    CLOSED = "closed"


_REFUSALS = {
    Mode.INVITED: "Accounts are made by invitation here; ask an admin for a link.",
    Mode.CLOSED: "Nobody can register here; ask an admin for an account.",
}


@dataclass(frozen=True, slots=True)
class RegistrationPolicy:
    """Who may register. `per_hour` is the most of one address; None: no limit for callers of this machine, else 5."""

    mode: Mode
    per_hour: int | None
    domains: frozenset[str] = frozenset()
    """In the mode `domains`: those of which an address has to be, and is confirmed by a mail."""

    @property
    def confirms(self) -> bool:
        """Whether there is no account until somebody has used the link of a mail."""
        return self.mode is Mode.DOMAINS

    async def admit(self, database: Database, address: str, email: str) -> None:
        """Raise Forbidden registration_closed, _invited or _domain, or TooManyRequests; else count a try.

        It is counted whatever comes of it: an answer tells whether somebody has an account.
        """
        refusal = _REFUSALS.get(self.mode)
        if refusal is not None:
            raise Forbidden(refusal, code=f"registration_{self.mode}")
        if self.confirms and email.rpartition("@")[2] not in self.domains:
            raise Forbidden(
                "Only people with an address of certain domains can register here; ask an admin for a link.",
                code="registration_domain",
            )
        if self.per_hour is None and _is_loopback(address):
            return
        limit = DEFAULT_PER_HOUR if self.per_hour is None else self.per_hour
        await hourly.take(database, "registration", address, limit)


DEFAULT_PER_HOUR = 5


def _is_loopback(address: str) -> bool:
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return False
