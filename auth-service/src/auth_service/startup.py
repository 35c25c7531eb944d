"""What auth-service needs before it serves: a key that signs, and somebody who may make others admins."""

import logging

from auth_service.settings import BUILT_IN_ADMIN_PASSWORD, Settings
from auth_service.signing_keys.service import ensure_first
from auth_service.users import repository, service
from auth_service.users.passwords import Passwords
from chassis.database import Database
from chassis.events import SYSTEM
from chassis.identity import Role

_log = logging.getLogger(__name__)
_LOCK = 7_235_121


class BuiltInPasswordRefused(RuntimeError):
    """The built-in admin password is known to everyone; the message says what to do."""


async def prepare(settings: Settings, database: Database) -> None:
    """Make the first signing key and, when there is no user at all, the default admin.

    To be called after the migrations and before the service serves; as often as it starts, and by several
    replicas at once. Raises BuiltInPasswordRefused outside development when DEFAULT_ADMIN_PASSWORD is not set.
    """
    password = settings.default_admin_password.get_secret_value()
    if password == BUILT_IN_ADMIN_PASSWORD:
        if settings.environment != "development":
            raise BuiltInPasswordRefused(
                "Set DEFAULT_ADMIN_PASSWORD: the built-in password of the default admin is known to everyone"
                " and works only when ENVIRONMENT is development."
            )
        _log.warning(
            "The default admin %s has the built-in password, if nobody changed it; this is for development only.",
            settings.default_admin_email,
        )
    await ensure_first(database)
    await _ensure_admin(database, settings.default_admin_email, password)


async def _ensure_admin(database: Database, email: str, password: str) -> None:
    async with database.connection() as connection:
        if not await repository.is_empty(connection):
            return
    password_hash = await Passwords().hash(password)
    async with database.transaction() as connection:
        await connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
        if not await repository.is_empty(connection):
            return
        await service.create(
            connection,
            email=email,
            full_name="Default admin",
            role=Role.ADMIN,
            password_hash=password_hash,
            actor=SYSTEM,
        )
    _log.info("Made the default admin %s.", email)
