"""The command that follows the chain of the audit log."""

from dataclasses import asdict

import click
from pydantic_settings import BaseSettings, SettingsConfigDict

from chassis.admin import connections, output
from chassis.admin.running import Refused, json_option, running
from chassis.core.projects import MAIN
from chassis.core.settings import SigningKey, read
from chassis.core.wording import counted
from chassis.db import sealing
from chassis.db.rows import fetch_value
from chassis.db.sealing import Signer, Verdict


class _Settings(BaseSettings):
    model_config = SettingsConfigDict(extra="ignore", frozen=True)

    internal_signing_key: SigningKey | None = None


@click.command("verify-audit")
@click.option("--head", "heads", multiple=True, help="PLACE:HASH of GET /audit-log/head as it was once, of MAIN.")
@json_option
@running
async def verify_audit(heads: tuple[str, ...], in_json: bool) -> None:
    """Find the first audit entry of each project that was changed, removed or put in; exit with 1 if there is one.

    DATABASE_URL is that of notification-service, and INTERNAL_SIGNING_KEY its key, with which heads are signed; without
    it, their signatures are not checked.
    """
    known = dict(_known(head) for head in heads)
    key = read(_Settings).internal_signing_key
    signer = None if key is None else Signer(key.get_secret_value())
    async with connections.database() as connection:
        await connection.execute("SET statement_timeout = '15min'")
        found = [
            await sealing.verify(connection, project, signer, known if project == MAIN else {})
            for project in await sealing.chains(connection)
        ]
        unsealed = await fetch_value(
            connection, "SELECT count(*) FROM audit_entries WHERE id > (SELECT position FROM audit_sealing)"
        )
    if in_json:
        projects = [asdict(one) for one in found]
        output.as_json({"projects": projects, "unsealed": unsealed, "signatures_checked": signer is not None})
    else:
        output.as_table([_row(one) for one in found], "PROJECT", "FROM", "ENTRIES", "HEAD", "")
        click.echo(f"\n{counted(unsealed, 'entry has', 'entries have')} no seal yet.")
        if signer is None:
            click.echo("The signatures of heads were not checked: INTERNAL_SIGNING_KEY is not set.")
    if any(one.wrong for one in found):
        raise Refused("The audit log is not what it was.")


def _known(head: str) -> tuple[int, bytes]:
    place, _, hash_ = head.partition(":")
    try:
        return int(place), bytes.fromhex(hash_)
    except ValueError:
        raise Refused(f"{head} is no head: give PLACE:HASH, a number and 64 hexadecimal digits.") from None


def _row(one: Verdict) -> tuple[str, int, int, str, str]:
    return (
        one.project,
        one.first,
        one.entries,
        one.head[:16],
        one.wrong
        or (
            "as it was"
            if not one.erased
            else f"as it was, but for {counted(one.erased, 'entry', 'entries')} of erased people"
        ),
    )
