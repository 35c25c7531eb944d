"""The words that fields of requirements, test cases and links take."""

from enum import StrEnum


class PriorityLevel(StrEnum):
    """How much it matters."""

    CRITICAL = "critical"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class RequirementType(StrEnum):
    """What sort of requirement it is."""

    FUNCTIONAL = "functional"
    NON_FUNCTIONAL = "non_functional"
    TECHNICAL = "technical"


class RequirementStatus(StrEnum):
    """How far it has come; the order is usual, not enforced."""

    DRAFT = "draft"
    APPROVED = "approved"
    IMPLEMENTED = "implemented"
    TESTED = "tested"
    CLOSED = "closed"


class TestCaseType(StrEnum):
    """What sort of test it is."""

    __test__ = False  # pytest: not a test class

    FUNCTIONAL = "functional"
    INTEGRATION = "integration"
    PERFORMANCE = "performance"
    SECURITY = "security"
    UI = "ui"
    REGRESSION = "regression"


class TestCaseStatus(StrEnum):
    """How far it has come; the order is usual, not enforced."""

    __test__ = False

    DRAFT = "draft"
    READY = "ready"
    EXECUTING = "executing"
    PASSED = "passed"
    FAILED = "failed"
    BLOCKED = "blocked"
    DEPRECATED = "deprecated"


class AutomationStatus(StrEnum):
    """Whether a machine runs it."""

    MANUAL = "manual"
    AUTOMATED = "automated"
    AUTOMATABLE = "automatable"


class LinkType(StrEnum):
    """What the test case does for the requirement."""

    COVERS = "covers"
    VERIFIES = "verifies"
    VALIDATES = "validates"
    RELATED = "related"


class LinkSource(StrEnum):
    """Where the link came from."""

    MANUAL = "manual"
    AI_SUGGESTED = "ai_suggested"
    AI_CONFIRMED = "ai_confirmed"
    IMPORTED = "imported"
