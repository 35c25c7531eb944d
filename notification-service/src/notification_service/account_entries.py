"""The audit entries of accounts: nothing secret, and nothing that activity shows."""

from collections.abc import Iterable, Mapping
from typing import Any

from chassis.core.wording import counted
from chassis.db.sealing import Erased
from chassis.messaging.events import Actor, Received
from contracts import auth
from notification_service.entries import Entry, entry_of
from notification_service.vocabulary import AuditAction, ResourceType
from notification_service.wording import given, listed, who

# All that is stored of an account: nothing secret can come in by a new field.
_USER_FIELDS = ("email", "full_name", "role", "is_active")


def user_created(event: Received[auth.UserCreated]) -> Iterable[Entry]:
    """Return one entry for the account."""
    user = event.data.user
    after = {field: getattr(user, field) for field in _USER_FIELDS}
    yield _user_entry(event, AuditAction.USER_CREATED, user, f"The account {user.email} was created.", None, after)


def user_updated(event: Received[auth.UserUpdated]) -> Iterable[Entry]:
    """Return one entry for the account."""
    user = event.data.user
    fields = (*_USER_FIELDS, "identity_provider")
    changes = {field: event.data.changes[field] for field in fields if field in event.data.changes}
    summary = f"{who(event.actor)} changed {listed(changes)} of the account {user.email}."
    before = {field: change["before"] for field, change in changes.items()}
    after = {field: change["after"] for field, change in changes.items()}
    yield _user_entry(event, AuditAction.USER_UPDATED, user, summary, before, after)


def password_changed(event: Received[auth.PasswordChanged]) -> Iterable[Entry]:
    """Return one entry for the account."""
    user = event.data.user
    summary = f"{who(event.actor)} changed the password of the account {user.email}."
    yield _user_entry(event, AuditAction.USER_PASSWORD_CHANGED, user, summary, None, None)


def password_reset(event: Received[auth.PasswordReset]) -> Iterable[Entry]:
    """Return one entry for the account."""
    user = event.data.user
    if event.data.way == "operator":
        summary = f"An operator gave the account {user.email} a new password."
    elif event.data.way == "identity_provider":
        summary = f"{user.email} came by the identity provider: what had been signed in or had a password is out."
    else:
        summary = f"{user.email} chose a new password by a link."
    yield _user_entry(event, AuditAction.USER_PASSWORD_RESET, user, summary, None, None)


def user_erased(event: Received[auth.UserErased], erased: Erased | None) -> Entry:
    """Return the entry of a project from whose entries a person was taken out; None: from none.

    By its details the chain is followed, see chassis.db.sealing.
    """
    user = event.data.user
    summary = f"{who(event.actor)} erased the person of the account {user.id}."
    details = {"erasure": str(event.id), "entries": erased.entries, "digest": erased.digest} if erased else None
    return entry_of(
        event, AuditAction.USER_ERASED, ResourceType.USER, str(user.id), user.email, summary, details=details
    )


def password_reset_offered(event: Received[auth.PasswordResetOffered]) -> Iterable[Entry]:
    """Return one entry for the user whom the link is for; nothing of the link."""
    email = event.data.email
    summary = f"{who(event.actor)} made a link by which {email} chooses a new password."
    action = AuditAction.USER_PASSWORD_RESET_OFFERED
    yield entry_of(event, action, ResourceType.USER, str(event.data.user_id), email, summary)


def invitation_made(event: Received[auth.InvitationMade]) -> Iterable[Entry]:
    """Return one entry for whom was invited; nothing of the link."""
    data = event.data
    where = "" if data.project is None else f" in the project {data.project}"
    summary = f"{who(event.actor)} invited {data.email} as {data.role}{where}."
    details = given(data, frozenset({"email"}))
    yield entry_of(event, AuditAction.USER_INVITED, ResourceType.USER, None, data.email, summary, details=details)


def invitation_accepted(event: Received[auth.InvitationAccepted]) -> Iterable[Entry]:
    """Return one entry for the new account."""
    data = event.data
    action, summary = AuditAction.USER_INVITATION_ACCEPTED, f"{data.email} accepted an invitation."
    details = {"invitation_id": data.invitation_id}
    yield entry_of(event, action, ResourceType.USER, str(data.user_id), data.email, summary, details=details)


def invitation_revoked(event: Received[auth.InvitationRevoked]) -> Iterable[Entry]:
    """Return one entry for whom had been invited."""
    data = event.data
    action, summary = AuditAction.USER_INVITATION_REVOKED, f"{who(event.actor)} revoked the invitation of {data.email}."
    details = {"invitation_id": data.invitation_id}
    yield entry_of(event, action, ResourceType.USER, None, data.email, summary, details=details)


def token_ended(event: Received[auth.TokenEnded]) -> Iterable[Entry]:
    """Return one entry for the user who logged out; nothing of the token."""
    yield entry_of(
        event,
        AuditAction.USER_LOGGED_OUT,
        ResourceType.USER,
        str(event.data.user_id),
        event.actor.email,
        f"{who(event.actor)} logged out.",
    )


def keys_replaced(event: Received[auth.KeysReplaced]) -> Iterable[Entry]:
    """Return one entry; it concerns every account."""
    yield entry_of(
        event,
        AuditAction.USER_KEYS_REPLACED,
        ResourceType.USER,
        None,
        None,
        "The keys that sign log-ins were replaced at once: everybody has to log in again.",
    )


def sessions_ended(event: Received[auth.SessionsEnded]) -> Iterable[Entry]:
    """Return one entry for the user whose sessions were ended, however many; nothing of the tokens."""
    count = len(event.data.session_ids)
    ended = counted(count, "session")
    if event.data.reason == "idle":
        summary = f"{ended} ended, since nobody used {'it' if count == 1 else 'them'}."
    elif event.data.reason == "by_provider":
        summary = f"The identity provider ended {ended}."
    else:
        summary = f"{who(event.actor)} ended {ended}."
    yield entry_of(
        event,
        AuditAction.USER_SESSIONS_ENDED,
        ResourceType.USER,
        str(event.data.user_id),
        None,
        summary,
        details={"sessions": count, "reason": event.data.reason},
    )


def second_factor_changed(event: Received[auth.SecondFactorChanged]) -> Iterable[Entry]:
    """Return one entry for the user whose second factor it is."""
    changed = event.data
    does = "has a second factor now" if changed.is_active else "has no second factor any more"
    yield entry_of(
        event,
        AuditAction.USER_SECOND_FACTOR_CHANGED,
        ResourceType.USER,
        str(changed.user_id),
        changed.email,
        f"{changed.email} {does}, by {who(event.actor)}.",
        details={"is_active": changed.is_active},
    )


def recovery_code_used(event: Received[auth.RecoveryCodeUsed]) -> Iterable[Entry]:
    """Return one entry for the user who used a recovery code; nothing of the code."""
    used = event.data
    yield entry_of(
        event,
        AuditAction.USER_RECOVERY_CODE_USED,
        ResourceType.USER,
        str(used.user_id),
        used.email,
        f"{used.email} used a recovery code; {counted(used.left, 'code')} left.",
        details={"left": used.left},
    )


def api_token_created(event: Received[auth.ApiTokenCreated]) -> Iterable[Entry]:
    """Return one entry for the owner of the API token; nothing that it could be known by."""
    yield _api_token_entry(event, AuditAction.USER_API_TOKEN_CREATED, "made")


def api_token_revoked(event: Received[auth.ApiTokenRevoked]) -> Iterable[Entry]:
    """Return one entry for the owner of the API token."""
    yield _api_token_entry(event, AuditAction.USER_API_TOKEN_REVOKED, "revoked")


def _api_token_entry(event: Received[Any], action: AuditAction, verb: str) -> Entry:
    token = event.data.token
    return entry_of(
        event,
        action,
        ResourceType.USER,
        str(token.user_id),
        token.name,
        f"{who(event.actor)} {verb} the API token “{token.name}” ({listed(token.scopes)}).",
        details={"token_id": token.id, **given(token, frozenset({"id", "user_id", "name"}))},
    )


def api_token_used_elsewhere(event: Received[auth.ApiTokenUsedElsewhere]) -> Iterable[Entry]:
    """Return one entry for the owner of the API token."""
    used = event.data
    yield entry_of(
        event,
        AuditAction.USER_API_TOKEN_USED_ELSEWHERE,
        ResourceType.USER,
        str(used.token.user_id),
        used.token.name,
        f"The API token “{used.token.name}” of {who(event.actor)} was used from {used.address}, which is new.",
        details={"token_id": used.token.id, "address": used.address, "agent": used.agent},
    )


def login_succeeded(event: Received[auth.LoginSucceeded]) -> Iterable[Entry]:
    """Return one entry for who logged in: from where, with what, and which session began."""
    data = event.data
    ways = {"password": "a password", "single_sign_on": "single sign-on"}
    yield entry_of(
        event,
        AuditAction.USER_LOGGED_IN,
        ResourceType.USER,
        str(data.user_id),
        event.actor.email,
        f"{who(event.actor)} logged in from {data.address} with {ways.get(data.way, data.way)}.",
        details=given(data, frozenset({"user_id"})),
    )


def login_failed(event: Received[auth.LoginFailed]) -> Iterable[Entry]:
    """Return one entry; its actor is the email of the account, without an id, since it may be anyone.

    What was typed and is no account's email is not stored, whichever version sent the event: it may be a password.
    """
    failed, action = event.data, AuditAction.USER_LOGIN_FAILED
    if failed.reason == "unknown_account":
        account = auth.UNKNOWN
        summary = f"{_log_ins(failed)} from {failed.address} failed: no account has the email that was typed."
    elif failed.reason == auth.WRONG_CURRENT_PASSWORD:
        account, action = failed.email.lower(), AuditAction.USER_CURRENT_PASSWORD_WRONG
        times = "a wrong one" if failed.count == 1 else f"{failed.count} more wrong ones"
        summary = f"The session of {account} was asked for the current password and gave {times} from {failed.address}."
    elif failed.reason == auth.WRONG_CURRENT_CODE:
        account, action = failed.email.lower(), AuditAction.USER_SECOND_FACTOR_WRONG
        times = "a wrong one" if failed.count == 1 else f"{failed.count} more wrong ones"
        summary = f"The session of {account} was asked for a code and gave {times} from {failed.address}."
    else:
        account = failed.email.lower()
        summary = f"{_log_ins(failed)} as {account} from {failed.address} failed ({failed.reason})."
    yield entry_of(
        event,
        action,
        ResourceType.USER,
        None,
        account,
        summary,
        details=given(failed, frozenset({"email"} if failed.count > 1 else {"email", "count"})),
        actor=Actor(None, account),
    )


def _log_ins(failed: auth.LoginFailed) -> str:
    return "A log-in" if failed.count == 1 else f"{failed.count} more log-ins"


def _user_entry(
    event: Received[Any],
    action: AuditAction,
    user: auth.UserState,
    summary: str,
    before: Mapping[str, Any] | None,
    after: Mapping[str, Any] | None,
) -> Entry:
    return entry_of(event, action, ResourceType.USER, str(user.id), user.email, summary, before, after)
