"""The SQL of log-in attempts and of the networks from which users have logged in."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from chassis.db.database import Connection
from chassis.db.rows import fetch_value

_ADDRESS_LOCKS = 1
_ACCOUNT_LOCKS = 2
_ACTION_LOCKS = 3


async def lock_attempts(connection: Connection, account: str, network: str) -> None:
    """Have others who count attempts of this account or from this network wait until the transaction ends.

    The locks are taken in this order by all, so that there is no deadlock.
    """
    await connection.execute(
        "SELECT pg_advisory_xact_lock(%s, hashtext(%s)), pg_advisory_xact_lock(%s, hashtext(%s))",
        (_ADDRESS_LOCKS, network, _ACCOUNT_LOCKS, account),
    )


_OPEN = "(NOT failed AND at >= now() - %(decided_within)s)"
_ACCOUNT = "account = %(account_name)s"
_OWN = f"{_ACCOUNT} AND network = %(network)s"
_NETWORK = "network = %(network)s"


def _counts(scope: str, limit: str) -> str:
    """Until when the failures of a scope close it, null when they do not, and whether open attempts fill it.

    The window is twice as long after each `limit` failures of the last day, since they were as many full windows.
    """
    return f"""
        SELECT (
                   SELECT at + width FROM login_attempts
                   WHERE {scope} AND NOT {_OPEN} AND at > now() - width
                   ORDER BY at DESC OFFSET %({limit})s - 1 LIMIT 1
               ) AS closed_until,
               (SELECT count(*) FROM login_attempts WHERE {scope} AND ({_OPEN} OR at > now() - width))
               >= %({limit})s AS is_full
        FROM (
            SELECT least(
                       %(longest)s,
                       %(window)s * power(2, least(greatest(count(*) / %({limit})s - 1, 0), 30))
                   ) AS width
            FROM login_attempts WHERE {scope} AND NOT {_OPEN} AND at > now() - %(longest)s
        ) AS failures
    """


_COUNTS = f"""
    WITH account AS MATERIALIZED ({_counts(_ACCOUNT, "account")}),
         own AS MATERIALIZED ({_counts(_OWN, "newcomer")}),
         address AS MATERIALIZED ({_counts(_NETWORK, "address")}),
         strangers AS MATERIALIZED ({_counts(_ACCOUNT, "stranger")}),
         known AS (SELECT EXISTS (SELECT FROM known_networks WHERE {_OWN} AND at > now() - %(known_for)s) AS is_known)
    SELECT now() AS now,
           greatest(
               address.closed_until,
               CASE WHEN account.closed_until IS NOT NULL AND own.closed_until IS NOT NULL
                    THEN least(account.closed_until, own.closed_until) END,
               CASE WHEN NOT is_known THEN strangers.closed_until END
           ) AS closed_until,
           address.is_full OR (account.is_full AND own.is_full) OR (strangers.is_full AND NOT is_known) AS is_full
    FROM account, own, address, strangers, known
"""


async def attempt_counts(
    connection: Connection,
    account: str,
    network: str,
    *,
    window: timedelta,
    longest: timedelta,
    decided_within: timedelta,
    known_for: timedelta,
    limits: Mapping[str, int],
) -> DictRow:
    """Return what attempts there are on `account` and from `network` within `window`, or up to the `longest` one.

    `limits` are the most failures of an `account`, of an `address`, of a `newcomer`: an address on an account that
    has its most, and of an account to a `stranger`: an address not known of it within `known_for`. Gives `now`;
    `closed_until`, null, or when another attempt may be made; `is_full`, whether attempts that are not decided hold
    all places.
    """
    cursor = await connection.execute(
        _COUNTS,
        {
            "account_name": account,
            "network": network,
            "window": window,
            "longest": longest,
            "decided_within": decided_within,
            "known_for": known_for,
            **limits,
        },
    )
    row = await cursor.fetchone()
    assert row is not None
    return row


async def insert_attempt(connection: Connection, account: str, network: str) -> int:
    """Record an attempt that is not decided; return its id."""
    id_: int = await fetch_value(
        connection, "INSERT INTO login_attempts (account, network) VALUES (%s, %s) RETURNING id", (account, network)
    )
    return id_


async def delete_attempt(connection: Connection, attempt_id: int) -> None:
    """Delete an attempt."""
    await connection.execute("DELETE FROM login_attempts WHERE id = %s", (attempt_id,))


async def fail_attempt(connection: Connection, attempt_id: int) -> None:
    """Decide an attempt: it failed."""
    await connection.execute("UPDATE login_attempts SET failed = true WHERE id = %s", (attempt_id,))


async def keep_untold(
    connection: Connection, attempt_id: int, account: str, network: str, failure: Mapping[str, Any], window: timedelta
) -> bool:
    """Keep the failure of an attempt to be told later, where one of the account from the network was within `window`.

    Return whether that is so.
    """
    cursor = await connection.execute(
        "UPDATE login_attempts SET untold = %(failure)s WHERE id = %(id)s AND EXISTS (SELECT FROM login_attempts other"
        " WHERE other.account = %(account)s AND other.network = %(network)s AND other.failed"
        " AND other.id <> %(id)s AND other.at > now() - %(window)s)",
        {"id": attempt_id, "account": account, "network": network, "failure": Jsonb(failure), "window": window},
    )
    return cursor.rowcount > 0


async def forget_attempts(connection: Connection, attempt_id: int, account: str, network: str) -> list[dict[str, Any]]:
    """Delete an attempt and the failures of the account from the network; others under way stay.

    Return the failures among them that were not told.
    """
    cursor = await connection.execute(
        "DELETE FROM login_attempts WHERE account = %s AND network = %s AND (failed OR id = %s) RETURNING untold",
        (account, network, attempt_id),
    )
    return [row["untold"] for row in await cursor.fetchall() if row["untold"] is not None]


async def take_untold(connection: Connection, window: timedelta) -> list[tuple[str, str, dict[str, Any]]]:
    """Return account, network and failure of those that are to be told: the first of them longer ago than `window`."""
    cursor = await connection.execute(
        "SELECT id, account, network, untold FROM login_attempts WHERE untold IS NOT NULL AND (account, network) IN"
        " (SELECT account, network FROM login_attempts WHERE untold IS NOT NULL AND at < now() - %s)"
        " ORDER BY account, network, id FOR UPDATE",
        (window,),
    )
    rows = await cursor.fetchall()
    await connection.execute(
        "UPDATE login_attempts SET untold = NULL WHERE id = ANY(%s)", ([row["id"] for row in rows],)
    )
    return [(row["account"], row["network"], row["untold"]) for row in rows]


async def know_network(connection: Connection, account: str, network: str) -> None:
    """Remember that somebody has logged in to the account from the network; to the day, which spares writes."""
    await connection.execute(
        "INSERT INTO known_networks (account, network) VALUES (%s, %s) ON CONFLICT (account, network)"
        " DO UPDATE SET at = now() WHERE known_networks.at < now() - interval '1 day'",
        (account, network),
    )


async def is_known_network(connection: Connection, network: str, known_for: timedelta) -> bool:
    """Check whether somebody has logged in from the network, to whatever account, within `known_for`."""
    cursor = await connection.execute(
        "SELECT FROM known_networks WHERE network = %s AND at > now() - %s LIMIT 1", (network, known_for)
    )
    return await cursor.fetchone() is not None


async def prune_known_networks(connection: Connection, known_for: timedelta) -> None:
    """Delete the networks without a log-in for that long."""
    await connection.execute("DELETE FROM known_networks WHERE at < now() - %s", (known_for,))


async def prune_attempts(connection: Connection, window: timedelta) -> None:
    """Delete the attempts that count no more."""
    await connection.execute("DELETE FROM login_attempts WHERE at < now() - %s", (window,))


async def seconds_until_free(
    connection: Connection, action: str, network: str, limit: int, window: timedelta
) -> float | None:
    """Return how long until fewer than `limit` actions from the network lie within `window`; None: now.

    Others who ask the same wait until the transaction ends.
    """
    await connection.execute("SELECT pg_advisory_xact_lock(%s, hashtext(%s))", (_ACTION_LOCKS, action + network))
    found: float | None = await fetch_value(
        connection,
        "SELECT extract(epoch FROM at + %(window)s - now())::float AS seconds FROM counted_actions"
        " WHERE action = %(action)s AND network = %(network)s AND at > now() - %(window)s"
        " ORDER BY at DESC OFFSET %(limit)s - 1 LIMIT 1",
        {"action": action, "network": network, "window": window, "limit": limit},
    )
    return found


async def insert_action(connection: Connection, action: str, network: str) -> None:
    """Record that somebody did it now."""
    await connection.execute("INSERT INTO counted_actions (action, network) VALUES (%s, %s)", (action, network))


async def prune_actions(connection: Connection, window: timedelta) -> None:
    """Delete the actions that count no more."""
    await connection.execute("DELETE FROM counted_actions WHERE at < now() - %s", (window,))
