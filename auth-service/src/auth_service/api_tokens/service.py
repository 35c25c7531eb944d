"""Making and revoking API tokens; each change with its event in the caller's transaction."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from auth_service.api_tokens import repository
from auth_service.api_tokens.repository import TokenRow
from auth_service.projects.service import highest_role
from auth_service.users import repository as users
from auth_service.users import service as user_service
from chassis.core.addresses import network_of
from chassis.core.identity import Identity, Role
from chassis.core.problems import Conflict, NotFound
from chassis.db.database import Connection, Database
from chassis.messaging import outbox
from chassis.messaging.events import Actor, NewEvent, actor_of
from chassis.web.conditions import Conditions
from chassis.web.listing import Fetched, PageRequest
from contracts import api_tokens
from contracts.auth import ApiTokenCreated, ApiTokenRevoked, ApiTokenState, ApiTokenUsedElsewhere

MOST = 100
"""Tokens of one user that may work at once: more are a sign that none is ever reused."""

KNOWN_FOR = timedelta(days=90)
"""How long an address that a token was used from is none that is new."""

_FORGOTTEN_AFTER = timedelta(days=30)
_SHOWN = ("id", "name", "scopes", "projects", "created_at", "expires_at", "last_used_at")

Shown = dict[str, Any]
"""A token as the API shows one."""


async def create(
    connection: Connection,
    identity: Identity,
    token: str,
    *,
    name: str,
    scopes: Sequence[str],
    projects: Sequence[str] | None,
    expires_at: datetime,
    actor: Actor | None = None,
) -> Shown:
    """Store a token of a user, whom the `actor` makes it for (None: themself), and return it with its `warnings`.

    Raises Conflict too_many_tokens.
    """
    assert identity.id is not None, "only users have tokens"
    owner, now = await user_service.locked(connection, identity.id)
    if await repository.count_working(connection, identity.id) >= MOST:
        raise Conflict(f"You have {MOST} API tokens; revoke one that nobody uses first.", code="too_many_tokens")
    row = {
        "id": await repository.next_id(connection),
        "user_id": identity.id,
        "name": name,
        "scopes": list(scopes),
        "projects": None if projects is None else sorted(set(projects)),
        # The clock that decides which tokens a change of the password has ended.
        "created_at": now,
        "expires_at": expires_at.astimezone(UTC),
    }
    digest = api_tokens.digest(token)
    event = NewEvent(
        ApiTokenCreated(token=ApiTokenState.model_validate(row), token_hash=digest, owner=user_service.state(owner)),
        subject=str(row["id"]),
        actor=actor or actor_of(identity),
    )
    await repository.insert(connection, {**row, "token_hash": digest}, event)
    role = await highest_role(connection, identity, projects)
    return {**_shown({**row, "last_used_at": None}), "warnings": _warnings(scopes, role)}


async def find_page(database: Database, conditions: Conditions, wanted: PageRequest) -> Fetched:
    """Return one page of tokens, as they are shown."""
    async with database.connection() as connection:
        return await repository.find_page(connection, conditions, wanted)


async def get(database: Database, identity: Identity, token_id: int) -> Shown:
    """Return a token of the caller; raise NotFound."""
    async with database.connection() as connection:
        token = await repository.find(connection, token_id)
    if token is None or token["user_id"] != identity.id:
        raise _not_found()
    return _shown(token)


async def revoke(database: Database, identity: Identity, token_id: int, *, actor: Actor | None = None) -> None:
    """End a token of a user, or anybody's for an admin; `actor` is who does it (None: the user). Raises NotFound."""
    async with database.transaction() as connection:
        token = await repository.find(connection, token_id, to_change=True)
        if token is None or (token["user_id"] != identity.id and not identity.may(Role.ADMIN)):
            raise _not_found()
        event = NewEvent(ApiTokenRevoked(token=_state(token)), subject=str(token_id), actor=actor or actor_of(identity))
        await repository.revoke(connection, token_id, event)


async def used(database: Database, at: Mapping[int, datetime]) -> None:
    """Store when tokens, by their ids, were last used."""
    async with database.statement() as connection:
        await repository.set_last_used(connection, at)


async def used_from(connection: Connection, token_id: int, address: str, agent: str, at: datetime) -> None:
    """Store from where a token was used; tell so where that is new, also of one that was revoked since."""
    token = await repository.know_network(connection, token_id, network_of(address), at)
    if token is not None:
        (owner,) = (await users.shown(connection, [token["user_id"]])).values()
        payload = ApiTokenUsedElsewhere(token=_state(token), address=address, agent=agent)
        actor = Actor(owner["id"], owner["email"])
        await outbox.record(connection, [NewEvent(payload, subject=str(token_id), actor=actor)])


async def forget_old(database: Database) -> None:
    """Delete the tokens that expired long ago, and from where nobody has used one for long."""
    async with database.transaction() as connection:
        await repository.forget_old(connection, _FORGOTTEN_AFTER)
        await repository.forget_networks(connection, KNOWN_FOR)


def _warnings(scopes: Iterable[str], role: Role | None) -> list[str]:
    """Return what of these scopes comes to nothing as long as its owner has no higher role."""
    return [
        f"The scope '{scope}' does nothing yet: it needs the role {needed.value}, which the owner of this token has in"
        " no project that it is for. It counts as soon as they have it."
        for scope in scopes
        if role is None or role.rank < (needed := api_tokens.NEEDED_ROLES[scope]).rank
    ]


def _not_found() -> NotFound:
    return NotFound("You have no API token with this id.", code="token_not_found")


def _state(token: TokenRow) -> ApiTokenState:
    return ApiTokenState.model_validate(token)


def _shown(row: Mapping[str, Any]) -> Shown:
    return {name: row[name] for name in _SHOWN}
