"""Rate, errors and duration of requests, by the route's template: whatever callers ask for, the series stay few."""

from collections.abc import Callable
from time import perf_counter

from prometheus_client import Counter, Gauge, Histogram
from starlette.types import ASGIApp, Message, Receive, Scope, Send

RouteOf = Callable[[Scope], str | None]
"""Returns the template of a request that was answered, one of few; None when there is no such route."""

REQUESTS = Counter(
    "traceline_http_requests_total",
    "Requests that were answered; status 499: whoever asked had gone.",
    ("program", "method", "route", "status"),
)
SECONDS = Histogram(
    "traceline_http_request_duration_seconds",
    "From the request's headers to the end of its answer.",
    ("program", "method", "route"),
    buckets=(0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30),
)

STREAM = (b"content-type", b"text/event-stream")
"""The header of an answer that goes on until somebody ends it."""
STREAMS = Gauge(
    "traceline_http_streams",
    "Answers that go on and are open now; the duration of such a request is that until its answer began.",
    ("program", "route"),
)

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_OTHER = "other"
_GONE = 499
_FAILED = 500


def template(scope: Scope) -> str | None:
    """Return the path of the route that FastAPI has found, such as `/api/v1/requirements/{requirement_id}`."""
    return getattr(scope.get("route"), "path", None)


class Measured:
    """An app whose requests are counted and timed, those that it fails to answer too."""

    def __init__(self, app: ASGIApp, program: str, route_of: RouteOf = template) -> None:
        self._app = app
        self._program = program
        self._route_of = route_of
        self._series: dict[tuple[str, str | None, int], tuple[Counter, Histogram]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status = _FAILED
        is_whole = is_gone = False
        stream: Gauge | None = None

        async def receive_watching() -> Message:
            nonlocal is_gone
            message = await receive()
            if message["type"] == "http.disconnect" and not is_whole:
                is_gone = True
            return message

        async def send_watching(message: Message) -> None:
            nonlocal status, is_whole, stream
            if message["type"] == "http.response.start":
                status = message["status"]
                if STREAM in message["headers"]:
                    self._count(scope, status, perf_counter() - began)
                    stream = STREAMS.labels(self._program, self._route_of(scope) or _OTHER)
                    stream.inc()
            elif not message.get("more_body", False):
                is_whole = True
            await send(message)

        began = perf_counter()
        try:
            await self._app(scope, receive_watching, send_watching)
        finally:
            if stream is not None:
                stream.dec()
            else:
                if is_gone:
                    status = _GONE
                elif not is_whole:
                    status = _FAILED
                self._count(scope, status, perf_counter() - began)

    def _count(self, scope: Scope, status: int, seconds: float) -> None:
        key = (scope["method"], self._route_of(scope), status)
        series = self._series.get(key)
        if series is None:
            series = self._find(*key)
            if key[0] in _METHODS:  # others are without number
                self._series[key] = series
        requests, durations = series
        requests.inc()
        durations.observe(seconds)

    def _find(self, method: str, route: str | None, status: int) -> tuple[Counter, Histogram]:
        labels = (self._program, method if method in _METHODS else _OTHER, route or _OTHER)
        return REQUESTS.labels(*labels, str(status)), SECONDS.labels(*labels)
