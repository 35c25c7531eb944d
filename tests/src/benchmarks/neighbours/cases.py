"""What a member sends: for each operation an ordinary request, and ones as large as they may be."""

import random
import string
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

import orjson

from benchmarks.neighbours.record import Known, different_words, junit, ndjson

_BODY = 1_000_000
_ADDRESS = 30_000
_FOR_ALL = {"/api/v1/requirements", "/api/v1/test-cases"}
"""Where each kind of text is tried."""
_ENDING = {
    ("POST", "/api/v1/auth/logout"),
    ("DELETE", "/api/v1/auth/sessions"),
    ("DELETE", "/session"),
    ("POST", "/api/v1/auth/renew"),
    ("POST", "/session/renew"),
}
"""What would end the member's own session."""

Json = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """A request of a member: its route, what is in it, and how it goes out."""

    method: str
    route: str
    what: str
    path: str
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


def cases_of(document: Json, known: Known) -> list[Case]:
    """Return what is sent: over all operations of the OpenAPI document."""
    return [
        case
        for route, operations in document["paths"].items()
        for method, operation in operations.items()
        if method in {"get", "post", "put", "patch", "delete"} and (method.upper(), route) not in _ENDING
        for case in _Operation(document, known, method.upper(), route, operation).cases()
    ]


class _Operation:
    def __init__(self, document: Json, known: Known, method: str, route: str, operation: Json) -> None:
        self._document = document
        self._known = known
        self._method = method
        self._route = route
        self._operation = operation
        self._parameters = [self._resolved(one) for one in operation.get("parameters", [])]

    def cases(self) -> Iterator[Case]:
        """Yield the requests of this operation."""
        content = self._operation.get("requestBody", {}).get("content", {})
        if "application/json" in content:
            yield from self._with_json(self._resolved(content["application/json"]["schema"]))
        elif self._route.endswith("/imports") or self._route.endswith("/imports/inspect"):
            yield from self._with_file(_FILES)
        elif self._route.endswith("/test-results"):
            yield from self._with_file(_RESULTS)
        elif content:
            form = urlencode({"username": "nobody@people.test", "password": "x" * 2000, "grant_type": "password"})
            yield self._case("a form", body=form.encode(), media_type="application/x-www-form-urlencoded")
            yield self._case(
                "a long form", body=b"a=" + b"%41" * 300_000, media_type="application/x-www-form-urlencoded"
            )
        else:
            yield self._case("ordinary")
        if self._method == "GET":
            yield from self._reads()

    def _reads(self) -> Iterator[Case]:
        query = {one["name"]: one["schema"] for one in self._parameters if one["in"] == "query"}
        values = self._path_values()
        if "limit" in query or "expand" in query:
            whole = {"limit": query.get("limit", {}).get("maximum", 100)} if "limit" in query else {}
            if expand := _choices(query.get("expand", {})):
                whole["expand"] = ",".join(expand)
            for value in values[:2]:
                yield self._case("a whole page", whole, value)
        if "from" in query:
            for value in values[:2]:
                yield self._case("two versions", {"from": 1, "to": 2}, value)
        texts = [name for name, schema in query.items() if _is_free(schema)]
        for name in texts:
            if name in {"search", "q", "tag", "module", "ids"}:
                yield self._case(f"{name}: words", {name: different_words(2000, 1)[:_ADDRESS]})
                yield self._case(f"{name}: alternatives", {name: ",".join(map(str, range(5000)))[:_ADDRESS]})
        if "search" in query or "q" in query:
            name = "search" if "search" in query else "q"
            yield self._case("search: hostile", {name: ('"a* OR (b' * 100)[:190]})
            yield self._case("search: 190 letters", {name: "ab" * 95})
        for value in values[1:2]:
            yield self._case("of a long item", {}, value)
        for one in _choices(query["format"]) if "format" in query else []:
            yield self._case(f"format {one}", {"format": one})
        if self._route.endswith("/exports"):
            for kind in ("requirements", "test_cases"):
                for form in ("csv", "xlsx", "ndjson", "json", "reqif"):
                    yield self._case(f"{kind} {form}", {"kind": kind, "format": form})

    def _with_json(self, schema: Json) -> Iterator[Case]:
        example = self._example(schema)
        query: Json = {}
        yield self._case("ordinary", query, body=orjson.dumps(example))
        if "requirement_id" in self._route or "test_case_id" in self._route:
            yield self._case("ordinary, a long item", query, (self._path_values() * 2)[1], body=orjson.dumps(example))
        name = next(
            (one for one in ("description", "notes", "feedback", "filter") if one in schema.get("properties", {})), None
        )
        every = self._route in _FOR_ALL
        for what, text in TEXTS.items() if every else list(TEXTS.items())[:1]:
            if name is not None and name != "filter":
                yield self._case(what, query, body=orjson.dumps({**example, name: text, **self._own(example)}))
        deep = b"[" * (_BODY // 2) + b"]" * (_BODY // 2)
        yield self._case("deep JSON", query, body=deep)
        yield self._case("many members", query, body=orjson.dumps({f"m{n}": [n] * 10 for n in range(9_000)}))
        if every:
            for what, members in _MEMBERS.items():
                yield self._case(what, query, body=orjson.dumps({**example, **members, **self._own(example)}))
            yield self._case("many errors", query, body=orjson.dumps({**example, "tags": list(range(10_000))}))
        if "/bulk" in self._route:
            change: Json = {"filter": {"module": "module 3"}, "expected_count": 20, "dry_run": False}
            if "suggestions" in self._route:
                change = {"action": "reject", "filter": {"max_score": 0.5}, "dry_run": True}
            elif "links" in self._route:
                change |= {"filter": {"link_type": "covers"}, "patch": {"notes": TEXTS["words"]}}
            else:
                change |= {"patch": {"description": TEXTS["words"]}}
            yield self._case("many changes", query, body=orjson.dumps(change))
        if self._route.endswith("/gate"):
            where = [{"tag": [f"t{n}", "load"], "module": [f"module {n % 10}"] * 100} for n in range(100)]
            rules = [{"rule": "max_failed", "limit": n, "where": where[n]} for n in range(100)]
            yield self._case("100 rules", query, body=orjson.dumps({"rules": rules}))

    def _with_file(self, files: Mapping[str, tuple[str, bytes]]) -> Iterator[Case]:
        for what, (media_type, content) in files.items():
            yield self._case(what, body=content, media_type=media_type)

    def _case(
        self,
        what: str,
        query: Mapping[str, Any] | None = None,
        values: Json | None = None,
        *,
        body: bytes = b"",
        media_type: str = "application/json",
    ) -> Case:
        chosen = self._path_values()[0] if values is None else values
        path = self._route
        for name, value in chosen.items():
            path = path.replace(f"{{{name}}}", quote(str(value), safe=""))
        if query:
            path += "?" + urlencode(query)
        headers = {"Content-Type": media_type} if body else {}
        return Case(self._method, f"{self._method} {self._route.removeprefix('/api/v1')}", what, path, body, headers)

    def _path_values(self) -> list[Json]:
        """Return values for the parameters of the path: of what is there first, of long items behind."""
        names = [one["name"] for one in self._parameters if one["in"] == "path"]
        may_be_gone = self._method == "DELETE"
        found = [self._known.get(name) or [str(uuid.uuid4())] for name in names]
        if may_be_gone:
            found = [[str(uuid.uuid4())] for _ in names]
        count = max(map(len, found), default=1)
        return [{name: of[place % len(of)] for name, of in zip(names, found, strict=True)} for place in range(count)]

    def _own(self, example: Json) -> Json:
        return {"external_id": None} if "external_id" in example else {}

    def _example(self, schema: Json) -> Json:
        examples = schema.get("examples") or [{}]
        example = examples[0] if isinstance(examples[0], dict) else {}
        return {name: value for name, value in example.items() if name != "external_id"}

    def _resolved(self, schema: Json) -> Json:
        while "$ref" in schema:
            found: Any = self._document
            for step in schema["$ref"].removeprefix("#/").split("/"):
                found = found[step]
            schema = found
        return schema


def _choices(schema: Json) -> list[str]:
    found: list[str] = schema.get("enum") or schema.get("items", {}).get("enum") or []
    return found


def _is_free(schema: Json) -> bool:
    return schema.get("type") == "string" and "enum" not in schema and "format" not in schema


def _random_words(size: int) -> str:
    chance = random.Random(3)
    return " ".join("".join(chance.choices(string.ascii_letters, k=6)) for _ in range(size // 7))


def _random_letters(size: int) -> str:
    chance = random.Random(4)
    return "".join(map(chr, chance.choices(range(0x20, 0x2FF), k=size // 2)))


TEXTS = {
    "words": _random_words(_BODY),
    "words that begin alike": different_words(_BODY // 12, 5),
    "one word": "x" * _BODY,
    "one word of parts": "aB1_" * (_BODY // 4),
    "Chinese": "登录失败" * (_BODY // 12),
    "marks": "e\u0301" * (_BODY // 3),
    "any letters": _random_letters(_BODY),
    "hostile to patterns": "a" * 50_000 + "!a@a." * 100_000 + " " * 300_000 + "x",
    "lines": "\n" * (_BODY // 2),
}
_MEMBERS: dict[str, Json] = {
    "many tags": {"tags": [f"tag {n} {'x' * 90}" for n in range(100)]},
    "many steps": {"steps": {str(n): "Press the button of the pump. " * 30 for n in range(1, 1001)}},
    "much metadata": {"custom_metadata": {f"m{n}": "x" * 80 for n in range(9_000)}},
}


def _strictdoc(nodes: int) -> bytes:
    one = "[REQUIREMENT]\nUID: R-{0}\nTITLE: The pump {0}\nSTATEMENT: The pump shall stop.\n\n"
    return ("[DOCUMENT]\nTITLE: Pumps\n\n" + "".join(one.format(n) for n in range(nodes))).encode()


def _csv(rows: int) -> bytes:
    return b"external_id,title,description,type,priority\n" + b"".join(
        b"C-%d,The pump %d,The pump shall stop within 5 s,functional,high\n" % (n, n) for n in range(rows)
    )


_FILES = {
    "ndjson, 20 rows": ("application/x-ndjson", ndjson(20)),
    "ndjson, 5,000 rows": ("application/x-ndjson", ndjson(5_000)),
    "csv, 20,000 rows": ("text/csv", _csv(20_000)),
    "StrictDoc, 50,000 nodes": ("text/x-strictdoc", _strictdoc(50_000)),
    "json, no end": ("application/json", b'[{"title":"' + b"x" * 5_000_000),
    "random bytes": ("application/octet-stream", random.Random(5).randbytes(5_000_000)),
}
_RESULTS = {
    "JUnit, 20 tests": ("application/xml", junit(20)),
    "JUnit, 10,000 tests": ("application/xml", junit(10_000)),
    "random bytes": ("application/octet-stream", random.Random(6).randbytes(5_000_000)),
}
