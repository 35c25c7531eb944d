"""What auth-service needs before it serves: a key that signs, and somebody who may make others admins."""

import logging
import secrets
import uuid
from datetime import timedelta

from auth_service.projects import service as projects
from auth_service.second_factor import service as second_factor
from auth_service.sessions import tokens
from auth_service.settings import BUILT_IN_ADMIN_PASSWORD, Settings
from auth_service.signing_keys.service import CurrentKey, encrypt_all, ensure_first
from auth_service.users import repository, service
from auth_service.users.passwords import Passwords
from chassis.core.identity import Role
from chassis.core.start_failure import StartFailure
from chassis.db.database import Database
from chassis.messaging.events import SYSTEM

_log = logging.getLogger(__name__)
_LOCK = 7_235_121
_TOKEN_LIFETIME = timedelta(minutes=10)


class BuiltInPasswordRefused(StartFailure):
    """The built-in admin password is known to everyone; the message says what to do."""


def first_password(settings: Settings, *, on_loopback: bool) -> str | None:
    """Return the password that the default admin is to get; None when a random one is to be made.

    `on_loopback`: whether the service is reached from this machine alone. Raises BuiltInPasswordRefused when
    DEFAULT_ADMIN_PASSWORD is the built-in password, and others reach it or ENVIRONMENT is not development.
    """
    safe = on_loopback and settings.environment == "development"
    if settings.default_admin_password is None:
        return BUILT_IN_ADMIN_PASSWORD if safe else None
    given = settings.default_admin_password.get_secret_value()
    if given == BUILT_IN_ADMIN_PASSWORD and not safe:
        raise BuiltInPasswordRefused(
            "The setting DEFAULT_ADMIN_PASSWORD is the built-in password, which everybody knows: it works only on a"
            " loopback address while ENVIRONMENT is development; set another, or none, and a random one is made."
        )
    return given


async def prepare(settings: Settings, database: Database, *, on_loopback: bool) -> str | None:
    """Make the first signing key and, when there is no user at all, the default admin.

    To be called after the migrations and before the service serves; as often as it starts, and by several
    replicas at once. Returns the admin's password if it is random and was made just now: to be shown, once.
    Private keys and secrets of second factors are encrypted by the first secret of DATA_ENCRYPTION_KEY, if it is set.
    Raises BuiltInPasswordRefused, see `first_password`; StartFailure when that key cannot read the keys.
    """
    password = first_password(settings, on_loopback=on_loopback)
    await encrypt_all(database, settings.cipher)
    await second_factor.encrypt_all(database, settings.cipher)
    await ensure_first(database, settings.cipher)
    async with database.transaction() as connection:
        # Projects were deleted once without their accounts.
        await projects.end_service_accounts(connection, SYSTEM)
    if password == BUILT_IN_ADMIN_PASSWORD:
        _log.info(
            "The default admin %s has the built-in password, if nobody changed it; this is for development only.",
            settings.default_admin_email,
        )
    random = secrets.token_urlsafe(15) if password is None else None
    # Beyond the machine, whoever reads the settings or the first lines of the log knows it.
    safe = on_loopback and settings.environment == "development"
    email = settings.default_admin_email
    made = await _ensure_admin(database, email, password or random or "", must_change_password=not safe)
    return random if made else None


async def admin_has(settings: Settings, database: Database, password: str) -> bool:
    """Check whether the default admin is there, may log in, and has this password."""
    known = await _default_admin(settings, database)
    return known is not None and await Passwords().matches(password, known["password_hash"])


async def log_in_hint(settings: Settings, database: Database, password: str | None) -> str:
    """Return how the default admin logs in: a sentence that is true now, whatever was changed since the first start.

    `password`: what it is thought to be; None when that is not known. A random one is for `first_log_in` to show.
    """
    email = settings.default_admin_email
    if await _default_admin(settings, database) is None:
        return "Log in with an account that was made here; DEFAULT_ADMIN_EMAIL counts at the first start alone."
    if password is None or not await admin_has(settings, database, password):
        return f"Log in as {email}, with the password that the account has by now."
    if password == BUILT_IN_ADMIN_PASSWORD:
        return f"Log in as {email}, password {password}."
    return f"Log in as {email}, with the password of DEFAULT_ADMIN_PASSWORD."


def first_log_in(settings: Settings, password: str) -> str:
    """Show the random password of the admin that was made just now."""
    return f"Log in as {settings.default_admin_email}, password {password} (shown this once, and to be changed first)."


async def admin_token(settings: Settings, database: Database) -> str:
    """Return an access token of an admin for a few minutes, of no session, for whoever runs the installation itself.

    It is that of the default admin where that account still is one, and asks for no password: nobody knows it here.
    """
    async with database.transaction() as connection:
        admin = await repository.first_admin(connection, settings.default_admin_email)
        user, now = await service.locked(connection, admin)
        key = await CurrentKey(settings.cipher).read(connection)
    return tokens.issue({**user, "must_change_password": False}, key, now, _TOKEN_LIFETIME, uuid.uuid4().hex)


async def _default_admin(settings: Settings, database: Database) -> repository.Credentials | None:
    """Return the credentials of the default admin, unless that account is not there or inactive."""
    async with database.connection() as connection:
        known = await repository.credentials(connection, settings.default_admin_email)
        if known is None or not (await repository.shown(connection, [known["id"]]))[known["id"]]["is_active"]:
            return None
    return known


async def _ensure_admin(database: Database, email: str, password: str, *, must_change_password: bool) -> bool:
    """Make the admin if there is no user; return whether that was so."""
    async with database.connection() as connection:
        if not await repository.is_empty(connection):
            return False
    password_hash = await Passwords().hash(password)
    async with database.transaction() as connection:
        await connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
        if not await repository.is_empty(connection):
            return False
        await service.create(
            connection,
            email=email,
            full_name="Default admin",
            role=Role.ADMIN,
            password_hash=password_hash,
            actor=SYSTEM,
            must_change_password=must_change_password,
        )
    _log.info("Made the default admin %s.", email)
    return True
