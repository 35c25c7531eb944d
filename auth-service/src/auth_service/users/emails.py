"""Email addresses: checked for syntax only, compared in one form."""

import unicodedata

import email_validator
from email_validator import EmailNotValidError, validate_email
from pydantic_core import PydanticCustomError

from chassis.core.wording import shown
from chassis.db import erasure

# The library's documented switch: a service of an intranet has users at .local, .test and single labels.
email_validator.SPECIAL_USE_DOMAIN_NAMES.clear()

MAX_LENGTH = 254
SERVICE_ACCOUNTS = "service-account.invalid"
"""The domain below which service accounts have addresses, and nobody else."""
_TAKEN = (SERVICE_ACCOUNTS, erasure.DOMAIN)


def parse_email(text: str) -> str:
    """Return the one form of an address that is stored and compared: lower case, NFC, the domain in Unicode.

    Raises PydanticCustomError, which pydantic reports at the field, when `text` is no address, or one that no person
    can have. Nobody is asked whether the domain exists.
    """
    try:
        parsed = validate_email(text.strip(), check_deliverability=False, globally_deliverable=False)
    except EmailNotValidError as error:
        raise PydanticCustomError("invalid_email", "{reason}", {"reason": _reason(text, error)}) from None
    address = _folded(parsed.normalized)
    if address.endswith(tuple(f"{before}{domain}" for domain in _TAKEN for before in "@.")):
        raise PydanticCustomError(
            "invalid_email",
            "{address} can be nobody's address: Traceline gives those itself.",
            {"address": shown(text)},
        )
    return address


def _reason(text: str, error: EmailNotValidError) -> str:
    reason = str(error).rstrip(".")
    if "@" not in text:
        reason = "It has no @"
    elif "IDNA" in reason or "Label" in reason:
        reason = "What stands after the @ is no name of a domain"
    return f"{shown(text)} is no email address such as kim@example.com. {reason}."


def account_name(text: str) -> str:
    """Return the form in which a login's user name is looked up; what is no address is no user's name."""
    try:
        return parse_email(text)
    except PydanticCustomError:
        return _folded(text.strip())


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", text.lower())
