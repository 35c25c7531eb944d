"""What auth-service tells."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict

from chassis.messaging.payloads import Alteration, Ending, Momentary, Payload
from contracts.projects import ProjectState


class UserState(BaseModel):
    """A user as they are after the event. Tokens issued before `tokens_not_before` do not work."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    id: int
    email: str
    full_name: str
    role: str
    is_active: bool
    tokens_not_before: datetime | None


class UserCreated(Payload):
    """Somebody registered, or an admin or the first start made the account."""

    wire_name = "auth.user.created"
    user: UserState


class UserUpdated(Payload):
    """An admin changed a user; `changes` maps a field to its `before` and `after`."""

    wire_name = "auth.user.updated"
    user: UserState
    changes: dict[str, dict[str, Any]]


class PasswordChanged(Payload):
    """A user changed their password: tokens issued earlier do not work."""

    wire_name = "auth.user.password_changed"
    user: UserState


class PasswordReset(Payload):
    """Somebody got a new password without the old one: tokens issued earlier do not work.

    `way` is `link`, by which they chose it, `operator`, who gave them one, or `identity_provider`, where they have
    proved that the account is theirs: nobody knows this password.
    """

    wire_name = "auth.user.password_reset"
    user: UserState
    way: str


class Former(BaseModel):
    """What a person was called before they were erased: the address, and every full name."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    email: str
    full_names: tuple[str, ...]


class UserErased(Payload):
    """An admin had a person erased; `user` is what is left of them, and nobody can log in as it.

    Whoever has the event takes what is in `former` out of all that they keep. Once all have received it, `former` is
    None, and nothing names the person any more. It is told twice: `again`, for what was on its way at the first time.
    """

    wire_name = "auth.user.erased"
    user: UserState
    former: Former | None
    again: bool = False


class PasswordResetOffered(Momentary):
    """A link was made by which a user chooses a new password: by an admin, or because somebody asked for a mail."""

    wire_name = "auth.password_reset.offered"
    user_id: int
    email: str
    expires_at: datetime


class InvitationMade(Momentary):
    """An admin invited somebody to make an account; `role` is that in the `project`, if there is one."""

    wire_name = "auth.invitation.made"
    invitation_id: int
    email: str
    role: str
    project: str | None
    expires_at: datetime


class InvitationAccepted(Momentary):
    """Somebody made an account by an invitation."""

    wire_name = "auth.invitation.accepted"
    invitation_id: int
    email: str
    user_id: int


class InvitationRevoked(Momentary):
    """An admin revoked an invitation that nobody had accepted."""

    wire_name = "auth.invitation.revoked"
    invitation_id: int
    email: str


class TokenEnded(Momentary):
    """A user logged out: the token with this id, and the session with it, do not work any more.

    `expires_at` is the end of the last token of the session.
    """

    wire_name = "auth.token.ended"
    user_id: int
    token_id: str
    expires_at: datetime


class KeysReplaced(Momentary):
    """An operator had a new key sign at once and all others forgotten: tokens that those signed do not work."""

    wire_name = "auth.keys.replaced"
    kid: str


class SessionsEnded(Momentary):
    """Sessions of a user were ended from outside them: no token of theirs works any more.

    `reason` is `one` or `elsewhere` (the user), `by_admin`, `by_provider` or `idle`; the last of the tokens expires at
    `expires_at`.
    """

    wire_name = "auth.sessions.ended"
    user_id: int
    session_ids: tuple[str, ...]
    expires_at: datetime
    reason: str


class SecondFactorChanged(Momentary):
    """A second factor of a user counts from now on, or is removed: by them, an admin or an operator."""

    wire_name = "auth.second_factor.changed"
    user_id: int
    email: str
    is_active: bool


class RecoveryCodeUsed(Momentary):
    """Somebody logged in with a recovery code in place of their second factor; so many are `left`."""

    wire_name = "auth.recovery_code.used"
    user_id: int
    email: str
    left: int


class ApiTokenState(BaseModel):
    """An API token. `projects` are the keys of those that it is for, None for all of its owner's."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    id: int
    user_id: int
    name: str
    scopes: tuple[str, ...]
    projects: tuple[str, ...] | None
    created_at: datetime
    expires_at: datetime


class ApiTokenCreated(Payload):
    """A user made an API token; `token_hash` is its SHA-256, by which it is known, and `owner` the user as of then."""

    wire_name = "auth.api_token.created"
    token: ApiTokenState
    token_hash: str
    owner: UserState


class ApiTokenRevoked(Payload):
    """The owner of an API token, or an admin, ended it."""

    wire_name = "auth.api_token.revoked"
    token: ApiTokenState


class ApiTokenUsedElsewhere(Momentary):
    """An API token was used from an address from which it had not been used within 90 days, or ever."""

    wire_name = "auth.api_token.used_elsewhere"
    token: ApiTokenState
    address: str
    agent: str


class ProjectCreated(Payload):
    """An admin made a project."""

    wire_name = "auth.project.created"
    project: ProjectState


class ProjectUpdated(Alteration):
    """A project was changed, or taken out of the archive; `changes` maps a field to its `before` and `after`."""

    wire_name = "auth.project.updated"
    project: ProjectState
    changes: dict[str, dict[str, Any]]


class ProjectArchived(Alteration):
    """A project was archived, and perhaps changed with it: nothing in it can be changed any more."""

    wire_name = "auth.project.archived"
    project: ProjectState
    changes: dict[str, dict[str, Any]]


class ProjectDeletionPlanned(Alteration):
    """An admin deleted a project: nobody has access to it any more, and nothing of it is gone.

    An admin can restore it `until` that time, after which it is deleted for good.
    """

    wire_name = "auth.project.deletion_planned"
    project: ProjectState
    until: datetime


class ProjectRestored(Alteration):
    """An admin restored a project that had been deleted; `members` are the roles of its members by their ids."""

    wire_name = "auth.project.restored"
    project: ProjectState
    members: dict[int, str]


class ProjectDeleted(Ending):
    """A project is deleted for good: whoever keeps something of it removes that. Its key is never used again."""

    wire_name = "auth.project.deleted"
    project: ProjectState


class MemberChanged(Payload):
    """Somebody was made a member of a project, `before` None, or got another role there."""

    wire_name = "auth.member.changed"
    project: str
    user_id: int
    email: str
    role: str
    before: str | None

    @classmethod
    def keys_of(cls, envelope: Mapping[str, Any]) -> Iterable[str]:
        """Return the membership."""
        return (_membership(envelope),)


class MemberRemoved(Payload):
    """Somebody is no member of a project any more; `before` is the role that they had there."""

    wire_name = "auth.member.removed"
    project: str
    user_id: int
    email: str
    before: str

    @classmethod
    def keys_of(cls, envelope: Mapping[str, Any]) -> Iterable[str]:
        """Return the membership."""
        return (_membership(envelope),)


def _membership(envelope: Mapping[str, Any]) -> str:
    data = envelope["data"]
    return f"auth.member {data['project']} {data['user_id']}"


UNKNOWN = "unknown"
"""Stands for an email that no account has."""


WRONG_CURRENT_PASSWORD = "wrong_current_password"  # noqa: S105 - the name of a reason
"""Who is signed in had to show the password once more, and did not know it."""

WRONG_CURRENT_CODE = "wrong_current_second_factor"
"""Who is signed in and knows the password had to show the second factor once more, and could not."""


class LoginSucceeded(Momentary):
    """Somebody logged in; `way` is `password` or `single_sign_on`, `session_id` that of the session that began."""

    wire_name = "auth.login.succeeded"
    user_id: int
    session_id: str
    way: str
    address: str
    agent: str


class LoginFailed(Momentary):
    """Somebody tried to log in, or to show the password once more, and could not; `reason` is a stable code.

    `email` is that of the account, or `unknown`: what somebody typed there may be a password. `typed` is then a keyed
    hash of it, the same for the same text as long as the key is. The first failure for an account from an address is
    told at once, those that follow together, by their `count`: who guesses shall not fill the feed.
    """

    wire_name = "auth.login.failed"
    email: str
    address: str
    reason: str
    typed: str | None = None
    count: int = 1


class Requests(BaseModel):
    """Requests that are told of together. A gateway tells auth-service of them, and an event tells the audit log.

    The first is told at once; those that follow of the same party, session or API token and for the same reason are
    told together each quarter of an hour: `count` requests from `since` on. `address` and `agent` are those of the
    last, `requests` a few of them, each a method and an address as they came. `project` is the key of the project that
    all of them are about, None for what belongs to the installation.
    """

    project: str | None
    address: str
    agent: str
    session_id: str | None
    api_token_id: int | None
    requests: tuple[str, ...]
    count: int
    since: datetime


class _Access(Momentary, Requests):
    """Base of what gateways tell of requests, at the time of the last of them.

    The actor is whose token came with them, who may not be known.
    """


class AccessRefused(_Access):
    """Requests were answered with 401, 403 or 429, or with 404 for a project that is not the caller's to see.

    `reason` is a stable code: that of the problem, or what is wrong with the token.
    """

    wire_name = "auth.access.refused"
    status: int
    reason: str


class DataRead(_Access):
    """Somebody was given a document of the record (`what` is `export`), or read the audit log (`audit_log`)."""

    wire_name = "auth.data.read"
    what: str


EVENTS: tuple[type[Payload], ...] = (
    UserCreated,
    UserUpdated,
    PasswordChanged,
    PasswordReset,
    UserErased,
    PasswordResetOffered,
    InvitationMade,
    InvitationAccepted,
    InvitationRevoked,
    TokenEnded,
    SessionsEnded,
    KeysReplaced,
    LoginSucceeded,
    LoginFailed,
    SecondFactorChanged,
    RecoveryCodeUsed,
    ApiTokenCreated,
    ApiTokenRevoked,
    ApiTokenUsedElsewhere,
    AccessRefused,
    DataRead,
    ProjectCreated,
    ProjectUpdated,
    ProjectArchived,
    ProjectDeletionPlanned,
    ProjectRestored,
    ProjectDeleted,
    MemberChanged,
    MemberRemoved,
)
