"""A host of code on loopback, which takes the requests of its published document and no others."""

import json
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar, Self
from urllib.parse import parse_qsl, unquote, urlsplit

from openapi_schema_validator import OAS30Validator

FOLDER = Path(__file__).resolve().parents[2] / "code_hosts"
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """What is answered."""

    status: int
    content: Any = None
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Asked:
    """A request that came, with the template of its path and what stands in it."""

    method: str
    path: str
    values: dict[str, str]
    query: dict[str, str]
    body: Any
    headers: dict[str, str]


class Document:
    """Operations of an OpenAPI document, against which requests and answers are held."""

    def __init__(self, file: Path) -> None:
        self.content: Json = json.loads(file.read_bytes())
        self._paths = {
            re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", path) + r"\Z"): path for path in self.content["paths"]
        }

    def find(self, method: str, path: str) -> tuple[str, dict[str, str]]:
        """Return the template of a path and what stands in it; raise ValueError where the operation is none."""
        for pattern, template in self._paths.items():
            found = pattern.match(path)
            if found is not None and method.lower() in self.content["paths"][template]:
                return template, {name: unquote(value) for name, value in found.groupdict().items()}
        raise ValueError(f"The document has no {method} {path}.")

    def check(self, asked: Asked) -> None:
        """Raise ValueError for a request that is not as the document says."""
        operation = self._operation(asked)
        known = {(one["in"], one["name"]): one for one in map(self._resolved, operation["parameters"])}
        for place, values in (("path", asked.values), ("query", asked.query)):
            for name, value in values.items():
                if (place, name) not in known:
                    raise ValueError(f"{asked.path} has no parameter {name} in its {place}.")
                schema = self._resolved(known[place, name]["schema"])
                self._hold(int(value) if schema.get("type") == "integer" else value, schema)
        body = operation.get("requestBody")
        if (body is None) != (asked.body is None):
            raise ValueError(f"{asked.method} {asked.path} has {'no' if body is None else 'a'} body.")
        if body is not None:
            schema = body["content"]["application/json"]["schema"]
            self._hold(asked.body, {"additionalProperties": False, **schema})

    def check_answer(self, asked: Asked, answer: Answer) -> None:
        """Raise ValueError for an answer of this server that the document does not have."""
        responses = self._operation(asked)["responses"]
        if answer.status < 300 and str(answer.status) not in responses:
            raise ValueError(f"{asked.method} {asked.path} is not answered with {answer.status}.")
        described = self._resolved(responses.get(str(answer.status), {}))
        schema = described.get("content", {}).get("application/json", {}).get("schema")
        if schema is not None:
            self._hold(answer.content, schema)

    def example(self, name: str) -> Any:
        """Return an example of the document."""
        return json.loads(json.dumps(self.content["components"]["examples"][name]["value"]))

    def _operation(self, asked: Asked) -> Json:
        operation: Json = self.content["paths"][asked.path][asked.method.lower()]
        return operation

    def _resolved(self, of: Json) -> Json:
        while "$ref" in of:
            kind, name = of["$ref"].removeprefix("#/components/").split("/", 1)
            of = self.content["components"][kind][name]
        return of

    def _hold(self, content: Any, schema: Json) -> None:
        whole = {**schema, "components": self.content["components"]}
        for error in OAS30Validator(whole).iter_errors(content):
            raise ValueError(f"{'/'.join(map(str, error.absolute_path))}: {error.message}")


class CodeHost:
    """What a host keeps. As a context manager it answers on loopback; `wrong` has what was not as its document says."""

    document: ClassVar[Document]
    base: ClassVar[str] = ""

    def __init__(self) -> None:
        self.comments: list[Json] = []
        self.statuses: list[Json] = []
        self.asked: list[Asked] = []
        self.wrong: list[str] = []
        self.instead: Callable[[Asked], Answer | None] = lambda _: None
        """What a test has it answer instead, where that is not None."""
        self.silent = False
        """Take connections, and answer nothing."""
        self._lock = threading.Lock()

    def answer(self, asked: Asked) -> Answer:
        """Answer a request that is as the document says."""
        raise NotImplementedError

    def take(self, method: str, address: str, headers: dict[str, str], sent: bytes) -> Answer:
        """Answer any request."""
        parts = urlsplit(address)
        try:
            path, values = self.document.find(method, parts.path.removeprefix(self.base))
            query = dict(parse_qsl(parts.query, keep_blank_values=True))
            asked = Asked(method, path, values, query, json.loads(sent) if sent else None, headers)
            with self._lock:
                self.asked.append(asked)
                self.document.check(asked)
                instead = self.instead(asked)
                if instead is not None:
                    return instead
                answer = self.answer(asked)
                self.document.check_answer(asked, answer)
                return answer
        except ValueError as error:
            self.wrong.append(str(error))
            return Answer(400, {"message": str(error)})

    @property
    def url(self) -> str:
        """The address of the API."""
        return f"http://127.0.0.1:{self._server.server_port}{self.base}"

    def __enter__(self) -> Self:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_of(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.silent = False
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def _handler_of(host: CodeHost) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            while host.silent:
                time.sleep(0.01)
            sent = self.rfile.read(int(self.headers["Content-Length"] or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            answer = host.take(self.command, self.path, headers, sent)
            is_text = isinstance(answer.content, str)
            body = answer.content.encode() if is_text else json.dumps(answer.content).encode()
            body = b"" if answer.status == 204 else body
            self.send_response(answer.status)
            self.send_header("Content-Type", "text/html" if is_text else "application/json")
            self.send_header("Content-Length", str(len(body)))
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self) -> None:
            self._answer()

        def do_POST(self) -> None:
            self._answer()

        def do_PATCH(self) -> None:
            self._answer()

        def do_PUT(self) -> None:
            self._answer()

        def do_DELETE(self) -> None:
            self._answer()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    return Handler


class GitHub(CodeHost):
    """As GitHub answers: by the examples of its document, as the token of a job."""

    document = Document(FOLDER / "github.json")

    def __init__(self) -> None:
        super().__init__()
        self.us: Json | None = None
        """The account of the token; None: that of a job, which may not ask."""
        self.pulls: list[Json] = []

    def add_comment(self, body: str, login: str = "github-actions[bot]", account: int = 41898282) -> Json:
        """Keep a comment of somebody."""
        comment: Json = self.document.example("issue-comment")
        comment["user"] |= {"login": login, "id": account, "type": "Bot" if login.endswith("[bot]") else "User"}
        comment |= {"id": 1000 + len(self.comments), "body": body}
        self.comments.append(comment)
        return comment

    def answer(self, asked: Asked) -> Answer:
        """See CodeHost.answer."""
        match asked.method, asked.path.rsplit("/", 1)[-1]:
            case "GET", "user":
                if self.us is None:
                    refused = {"message": "Resource not accessible by integration", "documentation_url": "https://docs"}
                    return Answer(403, refused)
                whole = self.document.example("private-user-response-with-public-and-private-profile-information")
                return Answer(200, {**whole, **self.us, "user_view_type": "private"})
            case "GET", "comments":
                return Answer(200, _page(self.comments, asked))
            case "POST", "comments":
                ours = self.us or {"login": "github-actions[bot]", "id": 41898282}
                return Answer(201, self.add_comment(asked.body["body"], ours["login"], ours["id"]))
            case "PATCH", _:
                (comment,) = [one for one in self.comments if str(one["id"]) == asked.values["comment_id"]]
                comment["body"] = asked.body["body"]
                return Answer(200, comment)
            case "DELETE", _:
                self.comments = [one for one in self.comments if str(one["id"]) != asked.values["comment_id"]]
                return Answer(204)
            case "POST", "{sha}":
                status = {**self.document.example("status"), **asked.body}
                self.statuses.append({"sha": asked.values["sha"], **asked.body})
                return Answer(201, status)
            case _:
                owner, _, branch = asked.query["head"].partition(":")
                of = [one for one in self.pulls if (one["owner"], one["branch"]) == (owner, branch)]
                (shape, *_) = self.document.example("pull-request-simple-items")
                shape["requested_teams"] = []  # those of the example lack what the document requires
                made = [{**shape, "number": one["number"], "head": {**shape["head"], "sha": one["sha"]}} for one in of]
                return Answer(200, made)


class GitLab(CodeHost):
    """As GitLab answers, to a token of a project."""

    document = Document(FOLDER / "gitlab.json")
    base = "/api/v4"

    def add_comment(self, body: str, username: str = "project_7_bot", account: int = 7) -> Json:
        """Keep a note of somebody."""
        note = {
            "id": 100 + len(self.comments),
            "body": body,
            "author": {"id": account, "username": username},
            "system": False,
        }
        self.comments.append(note)
        return note

    def answer(self, asked: Asked) -> Answer:
        """See CodeHost.answer."""
        match asked.method, asked.path.rsplit("/", 1)[-1]:
            case "GET", "user":
                return Answer(200, {"id": 7, "username": "project_7_bot"})
            case "GET", _:
                return Answer(200, _page(self.comments, asked))
            case "POST", "notes":
                return Answer(201, self.add_comment(asked.body["body"]))
            case "PUT", _:
                (note,) = [one for one in self.comments if str(one["id"]) == asked.values["note_id"]]
                note["body"] = asked.body["body"]
                return Answer(200, note)
            case "DELETE", _:
                self.comments = [one for one in self.comments if str(one["id"]) != asked.values["note_id"]]
                return Answer(204)
            case _:
                self.statuses.append({"project": asked.values["id"], "sha": asked.values["sha"], **asked.body})
                made = {"id": 1, "sha": asked.values["sha"], "status": asked.body["state"], "name": asked.body["name"]}
                return Answer(201, made)


def _page(rows: list[Json], asked: Asked) -> list[Json]:
    size, page = int(asked.query.get("per_page", 30)), int(asked.query.get("page", 1))
    return rows[(page - 1) * size : page * size]
