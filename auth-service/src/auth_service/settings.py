"""What the environment decides for auth-service."""

import os
from datetime import timedelta
from hashlib import blake2b
from ipaddress import ip_address
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr
from pydantic_settings import NoDecode

from auth_service.mails.smtp import Server
from auth_service.registration.policy import DEFAULT_PER_HOUR, Mode, RegistrationPolicy
from auth_service.second_factor.service import Required
from auth_service.single_sign_on.groups import GroupMap, Groups
from auth_service.single_sign_on.provider import Provider
from auth_service.users.emails import parse_email
from chassis.core.encryption import Cipher
from chassis.core.settings import OptionalSecrets, PublisherSettings, origin_or_none
from chassis.core.start_failure import StartFailure
from contracts.sign_on import CALLBACK
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


def _issuer_or_none(text: str | None) -> str | None:
    """Return the address of an identity provider as it was given, since tokens must name the same."""
    if text is None or not text.strip():
        return None
    issuer = text.strip()
    parts = urlsplit(issuer)
    if parts.scheme not in {"https", "http"} or not parts.hostname or parts.query or parts.fragment or parts.username:
        raise ValueError("it must be an address like https://login.example.com/realms/main")
    return issuer


def _text_or_none(text: str | None) -> str | None:
    return None if text is None or not text.strip() else text.strip()


def _scopes(text: str) -> str:
    named = text.split()
    if "openid" not in named:
        raise ValueError("one of the scopes must be openid")
    return " ".join(named)


_Text = Annotated[str | None, AfterValidator(_text_or_none)]


def cipher_of(secret: SecretStr | None) -> Cipher | None:
    """Return what encrypts by the first secret of a setting and reads by all; None where that is not set."""
    return None if secret is None else Cipher(*secret.get_secret_value().split())


class Settings(PublisherSettings):
    """Settings of auth-service; see PublisherSettings for those of others, too."""

    access_token_expire_minutes: int = Field(default=60, ge=1, le=LONGEST_LIFETIME // timedelta(minutes=1))
    session_idle_minutes: int = Field(default=0, ge=0, le=LONGEST_LIFETIME // timedelta(minutes=1))
    """After how long without a request a session ends; 0: when its token expires."""
    require_second_factor: Required = Required.NOBODY
    """Whose log-ins are good for having a second factor alone until they have one: `admins` or `all`."""
    project_restore_days: int = Field(default=7, ge=0, le=365)
    """For how many days an admin can restore a deleted project; 0: it is gone at once."""
    signing_key_rotation_days: int = Field(default=30, ge=1, le=3650)
    data_encryption_key: OptionalSecrets = None
    """What private signing keys and secrets of second factors are encrypted by in the database: the first of several,
    of which the others read what they have encrypted. None: they are not encrypted."""
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
    oidc_issuer: Annotated[str | None, AfterValidator(_issuer_or_none)] = None
    """The identity provider at which people sign in. None: there is none."""
    oidc_client_id: _Text = None
    oidc_client_secret: SecretStr | None = None
    """None: Traceline is a public client, and proves by PKCE alone that a code is its own."""
    oidc_scopes: Annotated[str, AfterValidator(_scopes)] = "openid email profile"
    oidc_role_claim: _Text = None
    """The claim that names somebody's groups. None: roles and memberships are given here."""
    oidc_groups: Annotated[GroupMap, NoDecode] = {}
    """What each of these groups may, as JSON."""
    oidc_only: bool = False
    """Whether nobody but the default admin may log in with a password."""

    @property
    def hash_key(self) -> bytes:
        """The key of hashes that are not to be guessed from: made of the secret, else another of each process."""
        if self.data_encryption_key is None:
            return os.urandom(32)
        secret, *_ = self.data_encryption_key.get_secret_value().split()
        return blake2b(secret.encode(), digest_size=32, person=b"typed user names").digest()

    @property
    def cipher(self) -> Cipher | None:
        """What encrypts secrets in the database; None: nothing does."""
        return cipher_of(self.data_encryption_key)

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
        mode = Mode.CLOSED if self.oidc_only else self.registration or (Mode.OPEN if in_development else Mode.INVITED)
        per_hour = self.registrations_per_hour
        return RegistrationPolicy(
            mode, per_hour if per_hour or in_development else DEFAULT_PER_HOUR, frozenset(self.registration_domains)
        )

    def provider(self) -> Provider | None:
        """Return the identity provider; raise StartFailure, with a line for each setting that is missing or wrong."""
        if self.oidc_issuer is None:
            if self.oidc_only:
                raise StartFailure("The setting OIDC_ISSUER is missing: with OIDC_ONLY nobody could log in.")
            return None
        wrong = []
        if self.oidc_client_id is None:
            wrong.append("The setting OIDC_CLIENT_ID is missing: the provider of OIDC_ISSUER knows Traceline by it.")
        if self.public_url is None:
            wrong.append("The setting PUBLIC_URL is missing: the provider of OIDC_ISSUER sends people back there.")
        if not self._is_guarded(self.oidc_issuer):
            wrong.append("The setting OIDC_ISSUER is wrong: beyond this machine it must begin with https://.")
        if (self.oidc_role_claim is not None) != bool(self.oidc_groups):
            wrong.append("The settings OIDC_ROLE_CLAIM and OIDC_GROUPS need one another; one of them is missing.")
        if wrong:
            raise StartFailure("\n".join(wrong))
        assert self.oidc_client_id is not None
        secret = self.oidc_client_secret
        return Provider(
            self.oidc_issuer,
            self.oidc_client_id,
            _text_or_none(None if secret is None else secret.get_secret_value()),
            self.oidc_scopes,
            f"{self.public_url}{CALLBACK}",
        )

    @property
    def groups(self) -> Groups | None:
        """What the provider's groups may; None when it does not say."""
        return None if self.oidc_role_claim is None else Groups(self.oidc_role_claim, self.oidc_groups)

    def _is_guarded(self, issuer: str) -> bool:
        """Check whether nobody on the way can be the provider."""
        parts = urlsplit(issuer)
        return parts.scheme == "https" or self.environment == "development" or _is_loopback(parts.hostname or "")

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


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
