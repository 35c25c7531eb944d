"""What the environment decides for auth-service."""

from datetime import timedelta
from hashlib import blake2b
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr
from pydantic_settings import NoDecode

from auth_service.mails.smtp import Server
from auth_service.registration.policy import DEFAULT_PER_HOUR, Mode, RegistrationPolicy
from auth_service.users.emails import parse_email
from chassis.core.settings import PublisherSettings, origin_or_none
from chassis.core.start_failure import StartFailure
from contracts.tokens import LONGEST_LIFETIME

BUILT_IN_ADMIN_PASSWORD = "traceline-admin"  # noqa: S105 - for development on a loopback address alone


def _server_or_none(url: str | None) -> str | None:
    """Return the address of a mail server; an empty text is none."""
    if url is None or not url.strip():
        return None
    Server.parse(url.strip())
    return url.strip()


def _domains(value: object) -> object:
    if not isinstance(value, str):
        return value
    # As in addresses: in Unicode, in lower case.
    return tuple(parse_email(f"x@{part.strip()}").partition("@")[2] for part in value.split(",") if part.strip())


class Settings(PublisherSettings):
    """Settings of auth-service; see PublisherSettings for those of others, too."""

    access_token_expire_minutes: int = Field(default=60, ge=1, le=LONGEST_LIFETIME // timedelta(minutes=1))
    session_idle_minutes: int = Field(default=0, ge=0, le=LONGEST_LIFETIME // timedelta(minutes=1))
    """After how long without a request a session ends; 0: when its token expires."""
    signing_key_rotation_days: int = Field(default=30, ge=1, le=3650)
    default_admin_email: Annotated[str, AfterValidator(parse_email)] = "admin@traceline.local"
    default_admin_password: SecretStr | None = Field(default=None, min_length=8, max_length=128)
    """None: the built-in one where that is allowed, else a random one."""
    public_url: Annotated[str | None, AfterValidator(origin_or_none)] = None
    """The address that people use, with which links begin."""
    smtp_url: Annotated[str | None, AfterValidator(_server_or_none)] = None
    """Where mails are handed over, `smtp+starttls://user:password@host:587`. None: there are none."""
    mail_from: Annotated[str, AfterValidator(parse_email)] = "traceline@localhost"
    registration: Mode | None = None
    """Who may make an account for themselves. None: everybody in development, whoever is invited in production."""
    registration_domains: Annotated[tuple[str, ...], NoDecode, BeforeValidator(_domains)] = ()
    """Domains, with commas between, of whose addresses people may register; for `domains`."""
    registrations_per_hour: int | None = Field(default=None, ge=1)
    """The most from one address. None: 5, and in development no limit on the machine itself."""

    @property
    def hash_key(self) -> bytes:
        """The key of hashes that are not to be guessed from: made of the secret, so that it need not be another."""
        secret = self.internal_token_secret.get_secret_value().encode()
        return blake2b(secret, digest_size=32, person=b"typed user names").digest()

    def mail_server(self) -> Server | None:
        """Return where mails are handed over; raise StartFailure where their links would lead nowhere."""
        if self.smtp_url is None:
            return None
        if self.public_url is None:
            raise StartFailure("The setting PUBLIC_URL is missing: links in mails (SMTP_URL) begin with it.")
        return Server.parse(self.smtp_url)

    def registration_policy(self) -> RegistrationPolicy:
        """Return who may register; raise StartFailure where nobody could."""
        if self.registration is Mode.DOMAINS and (not self.registration_domains or self.mail_server() is None):
            raise StartFailure("The setting REGISTRATION is domains: that needs REGISTRATION_DOMAINS and SMTP_URL.")
        in_development = self.environment == "development"
        mode = self.registration or (Mode.OPEN if in_development else Mode.INVITED)
        per_hour = self.registrations_per_hour
        return RegistrationPolicy(
            mode, per_hour if per_hour or in_development else DEFAULT_PER_HOUR, frozenset(self.registration_domains)
        )

    @property
    def token_lifetime(self) -> timedelta:
        """How long an access token lives."""
        return timedelta(minutes=self.access_token_expire_minutes)

    @property
    def session_idle(self) -> timedelta | None:
        """After how long without a request a session ends; None: when its token expires."""
        return timedelta(minutes=self.session_idle_minutes) if self.session_idle_minutes else None

    @property
    def signing_key_age(self) -> timedelta:
        """How long a key signs before the next one takes over."""
        return timedelta(days=self.signing_key_rotation_days)
