"""What the users of a large record do all day: mostly look at lists, sometimes write."""

import random
from collections.abc import Callable, Sequence

import orjson

from benchmarks.load import request
from benchmarks.scale.paced import Answered, Ask
from benchmarks.scale.record import Record

LIST = "list of 20 requirements"
_API = "/api/v1"
_PAGES = 50
"""People page through the first thousand of a list at most."""


class Mix:
    """Gives one request after the other, of one user after the other; the same for the same record.

    With `only`, the name of an operation, they all do that.
    """

    def __init__(self, record: Record, tokens: Sequence[str], only: str | None = None, seed: int = 11) -> None:
        self._random = random.Random(seed)
        self._record = record
        self._tokens = tokens
        self._numbered = 0
        self._links: list[str] = []
        kinds: list[tuple[int, str, Callable[[], tuple[str, str, object, Answered | None]]]] = [
            (24, LIST, lambda: self._list("/requirements")),
            (12, "list of 20 test cases", lambda: self._list("/test-cases")),
            (8, "list of a module", lambda: self._get(f"/requirements?limit=20&module={self._module()}")),
            (10, "read", lambda: self._get(f"/requirements/{self._requirement()}")),
            (5, "test cases of a requirement", lambda: self._get(f"/requirements/{self._requirement()}/test-cases")),
            (5, "list of links", lambda: self._get("/links?limit=20")),
            (5, "review queue", lambda: self._get("/suggestions?limit=20&status=pending&sort=score:desc")),
            (8, "unread count", lambda: self._get("/notifications/unread-count")),
            (4, "notifications", lambda: self._get("/notifications")),
            (2, "activity", lambda: self._get("/activity?limit=20")),
            (3, "search", lambda: self._get(f"/search?limit=20&q={self._words()}")),
            (1, "matrix of a module", lambda: self._get(f"/reports/traceability-matrix?module={self._module()}")),
            (4, "create a requirement", lambda: self._create("/requirements")),
            (3, "create a test case", lambda: self._create("/test-cases")),
            (3, "change a requirement", self._change),
            (2, "link", self._link),
            (1, "unlink", self._unlink),
        ]
        wanted = [kind for kind in kinds if only in (None, kind[1])]
        self._weights = [weight for weight, _, _ in wanted]
        self._kinds = [(name, make) for _, name, make in wanted]

    def __call__(self) -> Ask:
        """Return the next request."""
        ((name, make),) = self._random.choices(self._kinds, self._weights)
        method, path, body, answered = make()
        self._numbered += 1
        token = self._tokens[self._numbered % len(self._tokens)]
        return name, request(method, _API + path, token, b"" if body is None else orjson.dumps(body)), answered

    def _get(self, path: str) -> tuple[str, str, object, Answered | None]:
        return "GET", path, None, None

    def _list(self, path: str) -> tuple[str, str, object, Answered | None]:
        page = min(int(self._random.expovariate(0.5)), _PAGES - 1)
        return self._get(f"{path}?limit=20&skip={20 * page}")

    def _requirement(self) -> str:
        return str(self._random.choice(self._record.requirements)["id"])

    def _module(self) -> str:
        module: str = self._random.choice(self._record.requirements)["module"]
        return module

    def _words(self) -> str:
        """Two words of a title, as one remembers it."""
        return "+".join(self._random.choice(self._record.requirements)["title"].split()[-2:])

    def _create(self, path: str) -> tuple[str, str, object, Answered | None]:
        like, other = self._random.choices(self._record.requirements, k=2)
        body = {
            "title": like["title"],
            "description": f"{like['description']} {other['title']}",
            "module": like["module"],
            "type": "functional",
            "priority": "medium",
        }
        return "POST", path, body, None

    def _change(self) -> tuple[str, str, object, Answered | None]:
        body = {"description": self._random.choice(self._record.requirements)["description"]}
        return "PATCH", f"/requirements/{self._requirement()}", body, None

    def _link(self) -> tuple[str, str, object, Answered | None]:
        pair = self._record.unlinked_pair()
        body = {"requirement_id": pair[0], "test_case_id": pair[1]}
        return "POST", "/links", body, lambda _, answer: self._links.append(orjson.loads(answer)["id"])

    def _unlink(self) -> tuple[str, str, object, Answered | None]:
        if not self._links:
            return self._link()
        return "DELETE", f"/links/{self._links.pop()}", None, None
