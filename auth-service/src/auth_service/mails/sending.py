"""Sends the mails that were asked for. The link in one is made here, so that only hashes of links are ever stored."""

import logging
from dataclasses import dataclass
from datetime import timedelta

from aiosmtplib import SMTPException

from auth_service import asked_mails, one_time_links
from auth_service.invitations import service as invitations
from auth_service.mails.smtp import Server
from auth_service.password_reset import service as password_reset
from auth_service.users import repository as users
from chassis.core.identity import Role
from chassis.core.problems import Conflict, Problem
from chassis.db.database import Connection, Database
from chassis.messaging.events import SYSTEM

_log = logging.getLogger(__name__)

_TRIES = 8
_FIRST_PAUSE = timedelta(minutes=1)

_RESET_TEXT = """\
Somebody, perhaps you, asked for a new password for your account at Traceline.

Choose it here, within an hour: {link}

If it was not you, do nothing: your password stays as it is.
"""


_REGISTRATION_TEXT = """\
Somebody, perhaps you, wants an account for this address at Traceline.

Choose its password here, within seven days: {link}

If it was not you, do nothing: there will be no account.
"""


@dataclass(frozen=True, slots=True)
class Post:
    """Sends mails through a server, as `sender`."""

    database: Database
    server: Server
    sender: str
    public_url: str | None

    async def send_due(self) -> None:
        """Send what is due, one mail after the other."""
        while await self._send_next():
            pass

    async def _send_next(self) -> bool:
        """Send one mail, in the transaction that makes its link: without the mail there is no link."""
        async with self.database.transaction() as connection:
            asked = await asked_mails.lock_next(connection)
            if asked is None:
                return False
            try:
                # What this has written is undone alone when the mail cannot be handed over.
                async with connection.transaction():
                    if asked["kind"] == asked_mails.REGISTRATION:
                        await self._send_invitation(connection, asked["email"])
                    else:
                        await self._send_reset(connection, asked["email"])
            except (SMTPException, OSError) as failed:
                await self._put_off(connection, asked["id"], asked["tries"], failed)
            else:
                await asked_mails.delete(connection, asked["id"])
        return True

    async def _send_reset(self, connection: Connection, email: str) -> None:
        found = await users.credentials(connection, email)
        if found is None:
            return
        try:
            token, _ = await password_reset.offer(connection, found["id"], SYSTEM)
        except Problem:  # the account is not active, or no person's
            return
        link = one_time_links.address(self.public_url, password_reset.PAGE, token)
        await self.server.send(self.sender, email, "A new password for Traceline", _RESET_TEXT.format(link=link))

    async def _send_invitation(self, connection: Connection, email: str) -> None:
        token = one_time_links.new()
        try:
            await invitations.invite(connection, None, token, email=email, role=Role.VIEWER, project=None)
        except Conflict:  # they have an account
            return
        link = one_time_links.address(self.public_url, invitations.PAGE, token)
        text = _REGISTRATION_TEXT.format(link=link)
        await self.server.send(self.sender, email, "Your account for Traceline", text)

    async def _put_off(self, connection: Connection, mail_id: int, tries: int, failed: Exception) -> None:
        if tries + 1 >= _TRIES:
            _log.error("A mail was not taken after %s tries, and is given up: %s", tries + 1, failed)
            await asked_mails.delete(connection, mail_id)
            return
        _log.warning("A mail was not taken, it is tried again: %s", failed)
        await asked_mails.put_off(connection, mail_id, _FIRST_PAUSE * 2**tries)
