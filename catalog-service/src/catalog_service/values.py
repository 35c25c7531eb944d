"""The words that fields of requirements, test cases, links and relations take."""

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


class RelationType(StrEnum):
    """What a requirement is to the one above it."""

    REFINES = "refines"
    DERIVES_FROM = "derives_from"
    DEPENDS_ON = "depends_on"
    CONFLICTS_WITH = "conflicts_with"
    RELATED = "related"


ROLLING = (RelationType.REFINES, RelationType.DERIVES_FROM)
"""Relations that say what stands above what: no circle can be made of them, and verdicts roll up along them."""
ROLLING_TYPES = f"({', '.join(repr(one.value) for one in ROLLING)})"
"""The types of relations that roll up, as a list of SQL."""


class RelationSource(StrEnum):
    """Where the relation came from."""

    MANUAL = "manual"
    IMPORTED = "imported"
    PROPOSED = "proposed"
