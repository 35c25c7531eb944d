"""The stable words of notifications and of the audit log."""

from enum import StrEnum


class NotificationType(StrEnum):
    """Why a user is notified."""

    SUGGESTIONS_GENERATED = "suggestions_generated"
    SUGGESTION_REVIEWED = "suggestion_reviewed"
    COVERAGE_DROP = "coverage_drop"
    REQUIREMENT_CREATED = "requirement_created"
    TEST_CASE_CREATED = "test_case_created"


class ResourceType(StrEnum):
    """What an audit entry is about. Everything but `user` and `project` is item work, which activity shows."""

    REQUIREMENT = "requirement"
    TEST_CASE = "test_case"
    LINK = "link"
    RELATION = "relation"
    REFERENCE = "reference"
    SUGGESTION = "suggestion"
    PROPOSAL = "proposal"
    RUN = "run"
    COVERAGE = "coverage"
    IMPORT = "import"
    TEST_RUN = "test_run"
    ACCEPTED_FAILURE = "accepted_failure"
    AUTOMATED_TEST = "automated_test"
    USER = "user"
    PROJECT = "project"


class AuditAction(StrEnum):
    """What was done: `<resource type>.<what happened>`."""

    REQUIREMENT_CREATED = "requirement.created"
    REQUIREMENT_UPDATED = "requirement.updated"
    REQUIREMENT_DELETED = "requirement.deleted"
    TEST_CASE_CREATED = "test_case.created"
    TEST_CASE_UPDATED = "test_case.updated"
    TEST_CASE_DELETED = "test_case.deleted"
    LINK_CREATED = "link.created"
    LINK_UPDATED = "link.updated"
    LINK_CONFIRMED = "link.confirmed"
    LINK_DELETED = "link.deleted"
    RELATION_CREATED = "relation.created"
    RELATION_UPDATED = "relation.updated"
    RELATION_CONFIRMED = "relation.confirmed"
    RELATION_DELETED = "relation.deleted"
    REFERENCE_DELETED = "reference.deleted"
    SUGGESTION_GENERATED = "suggestion.generated"
    SUGGESTION_ACCEPTED = "suggestion.accepted"
    SUGGESTION_REJECTED = "suggestion.rejected"
    SUGGESTION_REOPENED = "suggestion.reopened"
    SUGGESTION_EXPIRED = "suggestion.expired"
    PROPOSAL_MADE = "proposal.made"
    PROPOSAL_ACCEPTED = "proposal.accepted"
    PROPOSAL_REJECTED = "proposal.rejected"
    PROPOSAL_REOPENED = "proposal.reopened"
    PROPOSAL_WITHDRAWN = "proposal.withdrawn"
    PROPOSAL_EXPIRED = "proposal.expired"
    PROPOSAL_OUTDATED = "proposal.outdated"
    RUN_COMPLETED = "run.completed"
    RUN_FAILED = "run.failed"
    RUN_CANCELLED = "run.cancelled"
    COVERAGE_DROPPED = "coverage.dropped"
    IMPORT_APPLIED = "import.applied"
    TEST_RUN_COMPLETED = "test_run.completed"
    ACCEPTED_FAILURE_CREATED = "accepted_failure.created"
    ACCEPTED_FAILURE_ENDED = "accepted_failure.ended"
    AUTOMATED_TEST_RETIRED = "automated_test.retired"
    USER_CREATED = "user.created"
    USER_UPDATED = "user.updated"
    USER_PASSWORD_CHANGED = "user.password_changed"  # noqa: S105 - the name of an action
    USER_PASSWORD_RESET = "user.password_reset"  # noqa: S105 - the name of an action
    USER_PASSWORD_RESET_OFFERED = "user.password_reset_offered"  # noqa: S105 - the name of an action
    USER_ERASED = "user.erased"
    USER_INVITED = "user.invited"
    USER_INVITATION_ACCEPTED = "user.invitation_accepted"
    USER_INVITATION_REVOKED = "user.invitation_revoked"
    USER_LOGGED_OUT = "user.logged_out"
    USER_KEYS_REPLACED = "user.keys_replaced"
    USER_SESSIONS_ENDED = "user.sessions_ended"
    USER_CURRENT_PASSWORD_WRONG = "user.current_password_wrong"  # noqa: S105 - the name of an action
    USER_LOGGED_IN = "user.logged_in"
    USER_LOGIN_FAILED = "user.login_failed"
    USER_SECOND_FACTOR_CHANGED = "user.second_factor_changed"
    USER_RECOVERY_CODE_USED = "user.recovery_code_used"
    USER_API_TOKEN_CREATED = "user.api_token_created"  # noqa: S105 - the name of an action
    USER_API_TOKEN_REVOKED = "user.api_token_revoked"  # noqa: S105 - the name of an action
    USER_API_TOKEN_USED_ELSEWHERE = "user.api_token_used_elsewhere"  # noqa: S105 - the name of an action
    USER_SECOND_FACTOR_WRONG = "user.second_factor_wrong"
    USER_ACCESS_REFUSED = "user.access_refused"
    USER_THROTTLED = "user.throttled"
    PROJECT_CREATED = "project.created"
    PROJECT_UPDATED = "project.updated"
    PROJECT_FIELDS_CHANGED = "project.fields_changed"
    PROJECT_LEVELS_CHANGED = "project.levels_changed"
    PROJECT_ARCHIVED = "project.archived"
    PROJECT_DELETION_PLANNED = "project.deletion_planned"
    PROJECT_RESTORED = "project.restored"
    PROJECT_DELETED = "project.deleted"
    PROJECT_MEMBER_CHANGED = "project.member_changed"
    PROJECT_MEMBER_REMOVED = "project.member_removed"
    PROJECT_ACCESS_REFUSED = "project.access_refused"
    PROJECT_EXPORTED = "project.exported"
    PROJECT_AUDIT_LOG_READ = "project.audit_log_read"


class StreamEventName(StrEnum):
    """What an event of the stream is about."""

    UNREAD = "unread"
    SUGGESTION_REVIEWED = "suggestion.reviewed"
    PROPOSAL_CHANGED = "proposal.changed"
    ITEM_CHANGED = "item.changed"
    RUN_PROGRESS = "run.progress"
    IMPORT_PROGRESS = "import.progress"
    TEST_RUN_COMPLETED = "test_run.completed"
    COVERAGE = "coverage"
    RESET = "reset"
