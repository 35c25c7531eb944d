"""All services and the whole traffic between them: who answers which addresses, tells which events and acts on which.

A consumer's queue gets all events of a source that it follows; those it has no use for are not listed here. The
handlers of the services are held against this table by tests/contract/test_consumers.py.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from chassis.core.internal_tokens import GATEWAY, callers_of
from chassis.messaging.payloads import Payload
from contracts import auth, catalog, suggestion


@dataclass(frozen=True, slots=True)
class Service:
    """A service as all others know it. Its paths are those after the API's prefix, `/api/v1/`.

    `context` is the first word of its events and the name of its queue. `resources` are the first segments of its
    paths, `tags` what the OpenAPI document says of each of its tags, `public` the (method, path) that need no token.
    `by_value` are beginnings of paths that end with a value, in which a percent-encoded slash or backslash is only a
    character. Answers of `unstored` resources are about people: no cache may store them. Those of `secret` ones may
    carry a password or a token: they are never compressed. Those of `streams` go on until somebody ends them.
    Of `watched` ones the audit log has who took a document away, or read the log itself.
    `uploads` are the paths whose body is a file, as long as `chassis.web.body_limits` says; the gateway's settings say
    how long all other bodies may be.

    All of it is of a project, but resources `of_installation`; those `of_person` are over all projects where none is
    named. `of_projects` are the segments behind a project's key that are the service's own. `reading` are the
    (method, path) that change nothing, whatever the method. `internal` says who may call its internal addresses, beside
    those of its feed; see `internal_callers`.
    """

    context: str
    resources: tuple[str, ...]
    tags: Mapping[str, str]
    publishes: tuple[type[Payload], ...] = ()
    consumes: tuple[type[Payload], ...] = ()
    public: tuple[tuple[str, str], ...] = ()
    by_value: tuple[str, ...] = ()
    unstored: tuple[str, ...] = ()
    streams: tuple[str, ...] = ()
    secret: tuple[str, ...] = ()
    watched: tuple[str, ...] = ()
    uploads: tuple[str, ...] = ()
    of_installation: tuple[str, ...] = ()
    of_person: tuple[str, ...] = ()
    of_projects: tuple[str, ...] = ()
    reading: tuple[tuple[str, str], ...] = ()
    internal: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What it is called in deployments and answers: `catalog-service`."""
        return f"{self.context}-service"

    @property
    def package(self) -> str:
        """Its Python package, whose name its database has, too: `catalog_service`."""
        return f"{self.context}_service"


AUTH = Service(
    "auth",
    resources=("auth", "users", "projects"),
    tags={
        "Authentication": "Logging in and out, registering, passwords, and the keys that tokens are checked with.",
        "API tokens": "For pipelines and agents: what each may, until when, and when it was last used.",
        "Users": "Accounts, their roles and invitations, for admins.",
        "Projects": "What keeps records apart from one another, and who may do what in which.",
    },
    publishes=auth.EVENTS,
    public=(
        ("POST", "auth/register"),
        ("POST", "auth/login"),
        ("POST", "auth/accept-invitation"),
        ("POST", "auth/forgot-password"),
        ("POST", "auth/reset-password"),
        ("GET", "auth/oidc/login"),
        ("GET", "auth/oidc/callback"),
        ("POST", "auth/oidc/backchannel-logout"),
        ("GET", "auth/jwks.json"),
        ("GET", "auth/ways-in"),
    ),
    unstored=("auth", "users", "projects"),
    secret=("auth",),
    of_installation=("auth", "users", "projects"),
    of_projects=("members", "restore", "service-accounts"),
    internal={
        "/internal/changes": (GATEWAY,),
        "/internal/access-changes": (GATEWAY,),
        "/internal/access-notices": (GATEWAY,),
        "/internal/access-use": (GATEWAY,),
        "/internal/projects": (GATEWAY,),
    },
)
CATALOG = Service(
    "catalog",
    resources=(
        *("requirements", "test-cases", "links", "relations", "references", "changes", "reports", "search"),
        *(
            "imports",
            "exports",
            "test-runs",
            "test-results",
            "automated-tests",
            "accepted-failures",
            "badges",
            "fields",
            "levels",
            "sections",
        ),
    ),
    tags={
        "Requirements": "What the product must do.",
        "Test cases": "How it is shown that the product does so.",
        "Links": "Which test case covers which requirement, and which links are in doubt since one of the two changed.",
        "Relations": "Which requirement stands above which, and what of that is in doubt since one of them changed.",
        "Fields": "What the items of a project have beside the fields of all, as its admins define it.",
        "Levels": "Levels of requirements, such as system and software, as admins of the project define them.",
        "Sections": "Sections of the outline, in which requirements and test cases stand in order.",
        "History": "What items said before, who changed them, and everything in order for those who keep a copy.",
        "Search": "Finding requirements and test cases by their words.",
        "Reports": "The traceability matrix, coverage and gaps.",
        "Import": "Reading files of other tools: tried first, then applied as a whole.",
        "Export": "Requirements, test cases and links as one document, of one moment.",
        "Results": "What CI and people found when they ran tests, and what that says of requirements.",
    },
    publishes=catalog.EVENTS,
    consumes=(
        suggestion.PendingPairsChanged,
        suggestion.SuggestionReviewed,
        suggestion.SuggestionsBulkReviewed,
        auth.ProjectCreated,
        auth.ProjectUpdated,
        auth.ProjectArchived,
        auth.ProjectDeletionPlanned,
        auth.ProjectRestored,
        auth.ProjectDeleted,
        auth.UserErased,
    ),
    by_value=("requirements/by-external-id/", "test-cases/by-external-id/"),
    watched=("exports", "imports", "reports"),
    uploads=("imports", "imports/inspect", "test-results"),
    reading=(("POST", "imports/inspect"), ("POST", "reports/gate"), ("POST", "automated-tests/try-patterns")),
    internal={
        "/internal/links/by-suggestion": ("suggestion-service",),
        "/internal/links/undone-by-suggestion": ("suggestion-service",),
        "/internal/proposals/checked": ("suggestion-service",),
        "/internal/proposals/applied": ("suggestion-service",),
        "/internal/proposals/undone": ("suggestion-service",),
    },
)
SUGGESTION = Service(
    "suggestion",
    resources=("suggestions", "proposals", "analytics"),
    tags={
        "Generation": "Runs that score every requirement against every test case.",
        "Suggestions": "The review queue: links that were suggested, to accept or to reject.",
        "Proposals": "What agents propose, with their reasons: it changes nothing until a person accepts it.",
        "Analytics": "How well suggestions do.",
    },
    publishes=suggestion.EVENTS,
    consumes=(
        catalog.RequirementCreated,
        catalog.RequirementUpdated,
        catalog.RequirementDeleted,
        catalog.TestCaseCreated,
        catalog.TestCaseUpdated,
        catalog.TestCaseDeleted,
        catalog.LinkCreated,
        catalog.LinkDeleted,
        catalog.ImportApplied,
        auth.ProjectCreated,
        auth.ProjectUpdated,
        auth.ProjectArchived,
        auth.ProjectDeletionPlanned,
        auth.ProjectRestored,
        auth.ProjectDeleted,
        auth.UserErased,
    ),
)
NOTIFICATION = Service(
    "notification",
    resources=("notifications", "activity", "audit-log", "events"),
    tags={
        "Notifications": "What the caller was told.",
        "Activity": "Who did what lately.",
        "Audit log": "Every change with the fields before and after, for admins.",
        "Events": "What happens, told at once to those who are connected.",
    },
    consumes=(
        *auth.EVENTS,
        *catalog.EVENTS,
        *(event for event in suggestion.EVENTS if event is not suggestion.PendingPairsChanged),
    ),
    unstored=("audit-log", "notifications", "events"),
    streams=("events",),
    watched=("audit-log",),
    of_person=("notifications",),
)

SERVICES = (AUTH, CATALOG, SUGGESTION, NOTIFICATION)
"""Each comes after those that its requests ask; workers follow the feed of any."""

PUBLISHED: Mapping[str, tuple[type[Payload], ...]] = {
    service.context: service.publishes for service in SERVICES if service.publishes
}
"""The events of each source, which is the first word of their wire names."""

CONSUMED: Mapping[str, tuple[type[Payload], ...]] = {
    service.context: service.consumes for service in SERVICES if service.consumes
}
"""The events that each consumer acts on, by the name of its queue."""


def ignored_by(consumer: str) -> list[type[Payload]]:
    """Return the events of the sources that a consumer follows which it has no use for."""
    published = [event for source in sources_of(consumer) for event in PUBLISHED[source]]
    return [event for event in published if event not in CONSUMED[consumer]]


def consumers_of(source: str) -> list[str]:
    """Return the consumers that follow a source: its feed keeps what one of them has not received."""
    return [consumer for consumer in CONSUMED if source in sources_of(consumer)]


def sources_of(consumer: str) -> list[str]:
    """Return the sources that a consumer follows: its queue is bound to everything that they tell."""
    return sorted({event.wire_name.partition(".")[0] for event in CONSUMED.get(consumer, ())})


def followed_by(service: Service) -> tuple[str, ...]:
    """Return the names of the services whose feeds a service follows, those of `sources_of` in the same order."""
    return tuple(f"{source}-service" for source in sources_of(service.context))


def internal_callers(service: Service) -> Mapping[str, frozenset[str]]:
    """Return the names of the callers that may call each internal address of a service: no other caller may."""
    followers = tuple(f"{consumer}-service" for consumer in consumers_of(service.context))
    feed = {"/internal/changes": followers, "/internal/feed-consumers/{consumer}": followers}
    return {
        path: frozenset((*feed.get(path, ()), *service.internal.get(path, ())))
        for path in dict.fromkeys((*feed, *service.internal))
    }


CALLERS = tuple(sorted({caller for service in SERVICES for caller in callers_of(internal_callers(service))}))
"""All that call a service, each with a key of its own."""
