"""Settings that come from the environment, or from files for secrets; all that is wrong is reported at once."""

import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails, PydanticCustomError
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from chassis.core.internal_tokens import InternalSigner, InternalVerifier, callers_of, read_key
from chassis.core.start_failure import StartFailure
from chassis.core.wording import shown

S = TypeVar("S", bound=BaseSettings)

_ORIGIN = re.compile(r"https?://(\[[0-9a-f:.]+\]|[a-z0-9]([a-z0-9.-]*[a-z0-9])?)(:[0-9]{1,5})?")

_SHORTEST = 32
_DIFFERENT = 16
_DIGITS_OF_HEX = re.compile(r"[0-9a-fA-F]{64,}")
_DIFFERENT_OF_HEX = 10
"""Of 64 random hexadecimal digits one in four lacks one of the sixteen, and one in 10**11 has fewer than ten."""

_REASONS = {
    "int_parsing": "it must be a whole number",
    "int_from_float": "it must be a whole number",
    "float_parsing": "it must be a number",
    "finite_number": "it must be a number",
    "bool_parsing": "it must be true or false",
    "greater_than": "it must be more than {gt}",
    "greater_than_equal": "it must be {ge} or more",
    "less_than": "it must be less than {lt}",
    "less_than_equal": "it must be {le} or less",
    "literal_error": "it must be {expected}",
    "enum": "it must be {expected}",
    "string_too_short": "it needs {min_length} characters or more",
    "string_too_long": "it may have {max_length} characters at most",
    "too_short": "it needs {min_length} characters or more",
    "too_long": "it may have {max_length} characters at most",
}


def _hard_to_guess(secret: SecretStr) -> SecretStr:
    text = secret.get_secret_value()
    different = len(set(text))
    if different < (_DIFFERENT_OF_HEX if _DIGITS_OF_HEX.fullmatch(text) else _DIFFERENT):
        raise PydanticCustomError(
            "guessable",
            "it has only {different} different characters; make one with: openssl rand -hex 32",
            {"different": different},
        )
    return secret


def _signing_key(secret: SecretStr) -> SecretStr:
    text = secret.get_secret_value().strip()
    _, private = read_key(text)
    _hard_to_guess(SecretStr(private.hex()))
    return SecretStr(text)


SigningKey = Annotated[SecretStr, AfterValidator(_signing_key)]
"""`CALLER=KEY`: what a program signs its calls with."""


def _trusted_keys(text: object) -> object:
    if not isinstance(text, str):
        return text
    callers: dict[bytes, str] = {}
    for part in re.split(r"[\s,]+", text.strip()):
        caller, public = read_key(part)
        if callers.setdefault(public, caller) != caller:
            raise ValueError(f"{callers[public]} and {caller} have the same key: each needs one of its own")
    return tuple(f"{caller}={public.hex()}" for public, caller in callers.items())


TrustedKeys = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_trusted_keys)]
"""`CALLER=KEY` of all who call a service, with blanks, commas or lines between; several of one while it changes."""


def _hard_to_guess_or_none(secret: SecretStr | None) -> SecretStr | None:
    words = "" if secret is None else secret.get_secret_value().split()
    for word in words:
        if len(word) < _SHORTEST:
            raise ValueError(f"it needs {_SHORTEST} characters or more")
        _hard_to_guess(SecretStr(word))
    return SecretStr(" ".join(words)) if words else None


OptionalSecrets = Annotated[SecretStr | None, AfterValidator(_hard_to_guess_or_none)]
"""A secret that is hard to guess, or several with blanks or lines between while it changes; an empty text is none."""


def origin(text: str) -> str:
    """Return an origin in its one form: scheme and host in lower case, without a path."""
    named = text.strip().rstrip("/").lower()
    if not _ORIGIN.fullmatch(named):
        raise ValueError(f"{text!r} is no address like https://traceline.example.com, without a path")
    return named


def origin_or_none(text: str | None) -> str | None:
    """Return the same; an empty text is none."""
    return None if text is None or not text.strip() else origin(text)


class DatabaseSettings(BaseSettings):
    """For commands that need nothing but the database of one service."""

    model_config = SettingsConfigDict(extra="ignore", frozen=True)

    database_url: str


class ServiceSettings(BaseSettings):
    """Base of each service's settings; a field is set by the environment variable of its name."""

    model_config = SettingsConfigDict(extra="ignore", frozen=True)

    environment: Literal["development", "production"] = "production"
    database_url: str
    database_pool_size: int = Field(default=8, ge=1, le=100)


class CallingSettings(BaseSettings):
    """For programs that call services."""

    model_config = SettingsConfigDict(extra="ignore", frozen=True)

    internal_signing_key: SigningKey

    def signer(self, caller: str | None = None) -> InternalSigner:
        """Return what signs the calls of `caller`; raise StartFailure when the key is another's."""
        signer = InternalSigner(self.internal_signing_key.get_secret_value())
        if caller is not None and signer.caller != caller:
            raise StartFailure(f"The setting INTERNAL_SIGNING_KEY is of {signer.caller}, and this is {caller}.")
        return signer


class CalledSettings(BaseSettings):
    """For programs that are called."""

    model_config = SettingsConfigDict(extra="ignore", frozen=True)

    internal_trusted_keys: TrustedKeys

    def verifier(self, service: str, internal: Mapping[str, Collection[str]]) -> InternalVerifier:
        """Return what knows who calls `service`: the gateway, and those who may call its `internal` addresses.

        Raises StartFailure when the key of one of them is missing.
        """
        callers = callers_of(internal)
        trusted = [key for key in self.internal_trusted_keys if read_key(key)[0] in callers]
        if missing := sorted(callers - {read_key(key)[0] for key in trusted}):
            raise StartFailure(
                f"The setting INTERNAL_TRUSTED_KEYS has no key of {', '.join(missing)}, by which {service} is called."
            )
        return InternalVerifier(service, trusted, internal)


class PublisherSettings(ServiceSettings):
    """Base of the settings of services that tell events."""

    feed_retention_days: int = Field(default=30, ge=0, le=36500)
    """So long each event is kept; of older ones the last of each thing is. 0: all are kept."""


def read(kind: type[S], **given: Any) -> S:
    """Read settings from the environment, completed by what is `given`.

    What the environment lacks is looked for in the folder SECRETS_DIR: a file a setting, of its name in lower
    case, as container platforms mount secrets. Raises StartFailure with a line for each that is missing or wrong.
    """
    folder = _secrets_folder()
    try:
        return kind(_secrets_dir=folder, **given)
    except ValidationError as error:
        raise StartFailure("\n".join(_complaints(kind, error))) from None


def check(*kinds: type[BaseSettings], **given: Any) -> None:
    """Raise StartFailure with a line for each setting of these kinds that is missing or wrong; see `read`."""
    together(*(partial(read, kind, **given) for kind in kinds))


def together(*checks: Callable[[], object]) -> None:
    """Raise StartFailure with each line that any of the checks raises one with, once."""
    complaints: dict[str, None] = {}
    for each in checks:
        try:
            each()
        except StartFailure as failure:
            complaints |= dict.fromkeys(str(failure).splitlines())
    if complaints:
        raise StartFailure("\n".join(complaints))


def is_secret(field: FieldInfo) -> bool:
    """Check whether the value of a setting must not be shown."""
    return _holds_secret(field.annotation)


def _holds_secret(annotation: object) -> bool:
    return annotation is SecretStr or any(map(_holds_secret, get_args(annotation)))


def _secrets_folder() -> str | None:
    folder = os.environ.get("SECRETS_DIR")
    if folder is not None and not Path(folder).is_dir():
        raise StartFailure(f"SECRETS_DIR is {folder}, and there is no such folder.")
    return folder


def _complaints(kind: type[BaseSettings], error: ValidationError) -> Iterator[str]:
    """Return what is wrong, a sentence a setting; what is a secret, or may hold one, is not shown."""
    for entry in error.errors():
        field = str(entry["loc"][0])
        name = f"{kind.model_config.get('env_prefix', '')}{field}".upper()
        if entry["type"] == "missing":
            yield f"The setting {name} is missing."
        elif _is_secret(kind, field):
            yield f"The setting {name} is wrong: {_reason(entry)}."
        else:
            yield f"The setting {name} is {shown(entry['input'])}: {_reason(entry)}."


def _is_secret(kind: type[BaseSettings], field: str) -> bool:
    return field.endswith("_url") or is_secret(kind.model_fields[field])


def _reason(entry: ErrorDetails) -> str:
    limits: Mapping[str, Any] = entry.get("ctx", {})
    if limits.get("min_length") == 1:
        return "it must not be empty"
    known = _REASONS.get(entry["type"])
    reason = entry["msg"] if known is None else known.format_map(limits)
    return reason.removeprefix("Value error, ").rstrip(".")
