"""What an API token needs for each address: the one table of it. What is not in it, no API token reaches.

`{}` stands for one step of a path, which an id or a key takes. Each scope but BADGE may read, so what only reads says
READ; None is for people alone, who have logged in: no API token makes another, an account or an invitation, changes a
password or a second factor, ends a session of its own, or does what cannot be undone. What is so for some bodies or
queries alone, the services refuse.
"""

from collections.abc import Mapping
from typing import Any

from chassis.core.problems import Forbidden, MethodNotAllowed, NotFound
from chassis.core.wording import NO_ADDRESS, listed
from contracts.api_tokens import Scope, session_needed
from contracts.routes import SERVICES

_READ = (Scope.READ,)
_WRITE = (Scope.WRITE,)
_PROPOSE = (Scope.WRITE, Scope.PROPOSE)
_REVIEW = (Scope.REVIEW,)
_RESULTS = (Scope.RESULTS,)
_ADMIN = (Scope.ADMIN,)
_BADGE = (Scope.READ, Scope.BADGE)
BADGES_ALONE = frozenset({Scope.BADGE})

Needed = tuple[Scope, ...] | None
"""The scopes of which one is enough; None: no scope is."""

_LISTED = {"GET": _READ, "POST": _WRITE}
_ITEM = {"GET": _READ, "PUT": _WRITE, "PATCH": _WRITE, "DELETE": _WRITE}
_READS = {"GET": _READ}
_WRITES = {"POST": _WRITE}
_REVIEWS = {"POST": _REVIEW}
_PEOPLE = dict.fromkeys(("GET", "POST", "PUT", "PATCH", "DELETE"))

ROUTES: Mapping[str, Mapping[str, Needed]] = {
    "accepted-failures": {"GET": _READ, "POST": _REVIEW},
    "accepted-failures/{}": _READS,
    "accepted-failures/{}/end": _REVIEWS,
    "activity": _READS,
    "analytics/agents": _READS,
    "analytics/suggestion-performance": _READS,
    "audit-log": {"GET": _ADMIN},
    "audit-log/head": {"GET": _ADMIN},
    "audit-log/chain": {"GET": _ADMIN},
    "audit-log/export": {"GET": _ADMIN},
    "auth/change-password": _PEOPLE,
    "auth/logout": _PEOPLE,
    "auth/me": _READS,
    "auth/renew": _PEOPLE,
    "auth/second-factor": _PEOPLE,
    "auth/second-factor/confirm": _PEOPLE,
    "auth/second-factor/recovery-codes": _PEOPLE,
    "auth/second-factor/remove": _PEOPLE,
    "auth/sessions": _PEOPLE,
    "auth/sessions/{}": _PEOPLE,
    "auth/tokens": _PEOPLE,
    "auth/tokens/{}": _PEOPLE,
    "automated-tests": _READS,
    "automated-tests/{}": {"PATCH": _WRITE},
    "automated-tests/{}/merge": _WRITES,
    "automated-tests/{}/retire": _REVIEWS,
    "automated-tests/bulk-retire": _REVIEWS,
    "automated-tests/runners": _READS,
    "automated-tests/try-patterns": {"POST": _RESULTS},
    "badges/coverage.svg": {"GET": _BADGE},
    "badges/gate.svg": {"GET": _BADGE},
    "badges/verified.svg": {"GET": _BADGE},
    "changes": _READS,
    "events": _READS,
    "exports": _READS,
    "exports/formats": _READS,
    "fields": {"GET": _READ, "PUT": _ADMIN},
    "levels": {"GET": _READ, "PUT": _ADMIN},
    "sections": _READS,
    "imports": _LISTED,
    "imports/inspect": _WRITES,
    "imports/mappings": _LISTED,
    "imports/mappings/{}": _ITEM,
    "imports/{}": _READS,
    "imports/{}/apply": _WRITES,
    "imports/{}/cancel": _WRITES,
    "imports/{}/rows": _READS,
    "links": _LISTED,
    "links/bulk": _WRITES,
    "links/{}": _ITEM,
    "links/{}/confirm": _WRITES,
    "links/{}/suspicion": _READS,
    "notifications": _READS,
    "notifications/mark-all-read": _WRITES,
    "notifications/unread-count": _READS,
    "notifications/{}": _ITEM,
    "notifications/{}/read": {"POST": _WRITE, "PATCH": _WRITE},
    "projects": {"GET": _READ, "POST": _ADMIN},
    "projects/{}": {"GET": _READ, "PATCH": _ADMIN, "DELETE": None},
    "projects/{}/members": {"GET": _ADMIN},
    "projects/{}/members/{}": {"PUT": _ADMIN, "DELETE": _ADMIN},
    "projects/{}/restore": _PEOPLE,
    "projects/{}/service-accounts": _PEOPLE,
    "projects/{}/service-accounts/{}": _PEOPLE,
    "projects/{}/service-accounts/{}/tokens": _PEOPLE,
    "projects/{}/service-accounts/{}/tokens/{}": _PEOPLE,
    "proposals": {"GET": _READ, "POST": _PROPOSE},
    "proposals/bulk-review": _REVIEWS,
    "proposals/{}": _READS,
    "proposals/{}/accept": _REVIEWS,
    "proposals/{}/reject": _REVIEWS,
    "proposals/{}/reopen": _REVIEWS,
    "proposals/{}/withdraw": {"POST": _PROPOSE},
    "references": _READS,
    "references/{}": {"DELETE": _WRITE},
    "relations": _LISTED,
    "relations/bulk": _WRITES,
    "relations/from-metadata": _WRITES,
    "relations/{}": _ITEM,
    "relations/{}/confirm": _WRITES,
    "relations/{}/suspicion": _READS,
    "reports/coverage-by-module": _READS,
    "reports/coverage-trend": _READS,
    "reports/gaps": _READS,
    "reports/flaky-tests": _READS,
    "reports/gate/policies": _READS,
    "reports/gate/policies/{}": {"GET": _READ, "PUT": _ADMIN, "DELETE": _ADMIN},
    "reports/result-trend": _READS,
    "reports/gate": {"GET": _READ, "POST": _RESULTS},
    "reports/module-matrix": _READS,
    "reports/test-case-verdicts": _READS,
    "reports/levels": _READS,
    "reports/trace-tree": _READS,
    "reports/traceability-matrix": _READS,
    "reports/traceability-matrix/axes": _READS,
    "reports/traceability-matrix/compact": _READS,
    "reports/verdicts-by-module": _READS,
    "reports/verification": _READS,
    "requirements": _LISTED,
    "requirements/bulk": _WRITES,
    "requirements/by-external-id/{}": _ITEM,
    "requirements/facets": _READS,
    "requirements/move": _WRITES,
    "requirements/{}": _ITEM,
    "requirements/{}/evidence": _READS,
    "requirements/{}/history": _READS,
    "requirements/{}/impact": _READS,
    "requirements/{}/relations": _READS,
    "requirements/{}/timeline": _READS,
    "requirements/{}/results": _READS,
    "requirements/{}/test-cases": _READS,
    "search": _READS,
    "suggestions": _READS,
    "suggestions/bulk-review": _REVIEWS,
    "suggestions/facets": _READS,
    "suggestions/generate": {"POST": _PROPOSE},
    "suggestions/progress": _READS,
    "suggestions/reviews/{}/undo": _REVIEWS,
    "suggestions/runs": _READS,
    "suggestions/runs/{}": _READS,
    "suggestions/runs/{}/cancel": {"POST": _PROPOSE},
    "suggestions/{}": _READS,
    "suggestions/{}/accept": _REVIEWS,
    "suggestions/{}/reject": _REVIEWS,
    "suggestions/{}/reopen": _REVIEWS,
    "test-cases": _LISTED,
    "test-cases/bulk": _WRITES,
    "test-cases/by-external-id/{}": _ITEM,
    "test-cases/facets": _READS,
    "test-cases/move": _WRITES,
    "test-cases/{}": _ITEM,
    "test-cases/{}/history": _READS,
    "test-cases/{}/timeline": _READS,
    "test-cases/{}/requirements": _READS,
    "test-cases/{}/results": {"GET": _READ, "POST": _RESULTS},
    "test-results": {"POST": _RESULTS},
    "test-results/{}": _READS,
    "test-runs": {"GET": _READ, "POST": _RESULTS},
    "test-runs/{}": {"GET": _READ, "DELETE": None},
    "test-runs/{}/complete": {"POST": _RESULTS},
    "test-runs/{}/results": _READS,
    "users": {"GET": _ADMIN, "POST": None},
    "users/{}": {"GET": _ADMIN, "PATCH": _ADMIN, "DELETE": _ADMIN},
    "users/invitations": {"GET": _ADMIN, "POST": None},
    "users/invitations/{}": {"DELETE": _ADMIN},
    "users/{}/password-reset": _PEOPLE,
    "users/{}/second-factor": _PEOPLE,
    "users/{}/sessions": {"DELETE": _ADMIN},
}

_ANY = "{}"
_HERE = ""
_BY_VALUE = tuple(beginning for service in SERVICES for beginning in service.by_value)


def _tree() -> dict[str, Any]:
    """Return the table by steps, so that finding a path takes as long as the path is."""
    root: dict[str, Any] = {}
    for path, methods in ROUTES.items():
        place = root
        for step in path.split("/"):
            place = place.setdefault(step, {})
        place[_HERE] = methods
    return root


_TREE = _tree()


def needed(method: str, path: str) -> Needed:
    """Return the scopes of which a request of this path behind the API's prefix needs one; see ROUTES.

    Raises NotFound or MethodNotAllowed for what is not in the table.
    """
    for beginning in _BY_VALUE:
        if path.startswith(beginning):
            path = beginning + _ANY  # a value may have slashes in it
    methods = _methods(_TREE, path.split("/"))
    if methods is None:
        raise NotFound(NO_ADDRESS, code="route_not_found")
    if method not in methods:
        raise MethodNotAllowed(method, methods)
    return methods[method]


def check(method: str, path: str, scopes: frozenset[str]) -> None:
    """Raise Forbidden unless a token with these scopes may send such a request."""
    wanted = needed(method, path)
    if wanted is None:
        raise session_needed()
    if (Scope.READ in wanted and scopes - BADGES_ALONE) or not scopes.isdisjoint(wanted):
        return
    names = listed([f"'{scope}'" for scope in wanted], "or")
    raise Forbidden(
        f"This API token lacks the scope {names}; make one that has it at /api/v1/auth/tokens.",
        code="scope_missing",
        members={"scopes": list(wanted)},
    )


def _methods(place: dict[str, Any], steps: list[str]) -> Mapping[str, Needed] | None:
    for step in steps:
        following = place.get(step) if step != _ANY else None
        following = following if following is not None else place.get(_ANY)
        if following is None:
            return None
        place = following
    return place.get(_HERE)
