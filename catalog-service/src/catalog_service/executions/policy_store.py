"""Table `gate_policies`: policies that admins keep, by name."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from psycopg.types.json import Json
from pydantic import ValidationError

from catalog_service.executions.policies import AcceptedFailures, Policy, Rule, Where, stored, usual
from catalog_service.projects import repository as projects
from chassis.core.problems import Invalid, NotFound
from chassis.core.projects import page_address
from chassis.core.wording import shown
from chassis.db.database import Connection
from chassis.web.conditions import Conditions
from chassis.web.keyset import By, Order
from chassis.web.listing import Fetched, PageRequest, Row, fetch_page
from chassis.web.sentences import sentence_at

BY_NAME = Order("name:asc", (By("p.name", str), By("p.id", UUID)))
_NAMES = ("id", "name", "rules", "created_by", "created_at", "updated_at")
_COLUMNS = ", ".join(f"p.{name}" for name in _NAMES)


async def page(connection: Connection, wanted: PageRequest) -> Fetched:
    """Return a page of the policies."""
    return await fetch_page(connection, _COLUMNS, "gate_policies p", Conditions(), wanted)


async def _find(connection: Connection, name: str, lock: str = "") -> Row | None:
    cursor = await connection.execute(f"SELECT {_COLUMNS} FROM gate_policies p WHERE p.name = %s {lock}", (name,))
    return await cursor.fetchone()


async def read(connection: Connection, name: str) -> Row:
    """Return a policy; raise NotFound."""
    row = await _find(connection, name)
    if row is None:
        raise _not_found()
    return row


def _not_found() -> NotFound:
    return NotFound("There is no saved policy with this name.", code="policy_not_found")


async def named(connection: Connection, name: str) -> list[Rule]:
    """Return the rules of the policy that a gate names; raise Invalid."""
    row = await _find(connection, name)
    if row is None:
        detail = f"There is no saved policy {shown(name)}; {page_address('/results?tab=gate')} lists them."
        raise Invalid.field("/query/policy", detail, "policy_not_found")
    return stored(row["rules"])


async def unasked(connection: Connection, where: Where, accepted: AcceptedFailures) -> list[Rule]:
    """Return the rules of a gate that names none: those of its project's settings, else the usual ones of a part.

    Raises Invalid for settings that no gate can follow: rules left out would let through what they are there for.
    """
    wanted = (await projects.get(connection)).gate
    if not wanted:
        return usual(where, accepted)
    if accepted is AcceptedFailures.ALLOW:
        detail = "The rules of the project's gate say themselves what they let pass; leave this out, or send rules."
        raise Invalid.field("/query/accepted", detail, "contradiction")
    if where.given:
        detail = "The rules of the project's gate each have a part of their own; send rules with the filters."
        raise Invalid.field(f"/query/{next(iter(where.given))}", detail, "contradiction")
    try:
        return stored(wanted)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        detail = (
            f"The gate in the settings of the project cannot be used. {place}: {_said(first)} Ask an admin of the"
            " project to mend it, or send rules."
        )
        raise Invalid(detail, code="invalid_gate") from None


def _said(entry: Mapping[str, Any]) -> str:
    if entry["type"] == "extra_forbidden":
        return f"There is no {shown(str(entry['loc'][-1]))} here."
    return f"{sentence_at(entry, entry['loc']).rstrip('.')}."


async def put(
    connection: Connection, name: str, policy: Policy, author: str, check: Callable[[Row], None]
) -> tuple[Row, bool]:
    """Keep a policy, in place of what had its name; return it, and whether it is new. Raise what `check` raises."""
    now = datetime.now(UTC)
    rules = [rule.model_dump(mode="json", exclude_none=True) for rule in policy.rules]
    row = {
        "id": uuid4(),
        "name": name,
        "rules": rules,
        "created_by": author,
        "created_at": now,
        "updated_at": now,
    }
    made = await connection.execute(
        f"INSERT INTO gate_policies ({', '.join(_NAMES)}) VALUES ({', '.join(f'%({one})s' for one in _NAMES)})"
        " ON CONFLICT (project_id, name) DO NOTHING",
        {**row, "rules": Json(rules)},
    )
    if made.rowcount:
        return row, True
    known = await _find(connection, name, "FOR UPDATE")
    if known is None:
        raise _not_found()
    check(known)
    changed = {**known, "rules": rules, "updated_at": now}
    await connection.execute(
        "UPDATE gate_policies SET rules = %(rules)s, updated_at = %(updated_at)s WHERE id = %(id)s",
        {**changed, "rules": Json(rules)},
    )
    return changed, False


async def delete(connection: Connection, name: str) -> None:
    """Delete a policy; raise NotFound."""
    gone = await connection.execute("DELETE FROM gate_policies WHERE name = %s", (name,))
    if not gone.rowcount:
        raise _not_found()
