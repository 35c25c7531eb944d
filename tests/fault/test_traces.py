"""One trace tells what became of a request: through the gateway, its service, the relay and every consumer."""

from acceptance import texts
from acceptance.client import Traceline, ok, requirement
from acceptance.collector import Collector, Span
from acceptance.stack import RunningStack
from acceptance.waiting import eventually

OUTSIDE = "0af7651916cd43dd8448eb211c80319c"


Spans = dict[tuple[str, str], Span]


def trace_of(collector: Collector, request_id: str, *programs_and_names: tuple[str, str]) -> Spans:
    """Return the trace that a request began, by program and name of the span, once these have come."""

    def found() -> Spans | None:
        began = [
            span
            for span in collector.spans
            if span.kind == "SERVER" and span.attributes.get("traceline.request_id") == request_id
        ]
        spans = {(span.program, span.name): span for span in (collector.of_trace(began[0].trace) if began else [])}
        return spans if spans.keys() >= set(programs_and_names) else None

    return eventually(found, f"the trace of {request_id}")


def test_the_trace_of_a_create_reaches_what_writes_the_notification(admin: Traceline, collector: Collector) -> None:
    response = admin.post(
        "/requirements",
        json={"title": "Only one trace", "description": "Of it.", "type": "functional", "priority": "low"},
        headers={"traceparent": f"00-{OUTSIDE}-b7ad6b7169203331-00"},
    )
    made = ok(response, 201)
    places = (
        ("traceline-gateway", "POST /api/v1/requirements"),
        ("traceline-gateway", "POST catalog-service"),
        ("traceline-catalog-service", "POST /api/v1/requirements"),
        ("traceline-catalog-worker", "publish catalog.requirement.created"),
        ("traceline-notification-worker", "process catalog.requirement.created"),
        ("traceline-suggestion-worker", "process catalog.requirement.created"),
    )
    spans = trace_of(collector, response.headers["x-request-id"], *places)
    request, call, served, published, notified, suggested = (spans[place] for place in places)

    assert request.parent == ""
    assert request.trace != OUTSIDE, "nobody outside decides what is recorded"
    assert call.parent == request.id
    assert served.parent == call.id
    assert {span.parent for span in (published, notified, suggested)} == {served.id}
    assert notified.links == suggested.links == (published.id,)
    assert (served.attributes["http.route"], served.attributes["http.response.status_code"]) == (
        "/api/v1/requirements",
        201,
    )

    (notification,) = [each for each in admin.items("/notifications") if made["id"] in str(each)]
    assert notification, "and it is the span that wrote this one"
    assert notified.attributes["traceline.request_id"] == response.headers["x-request-id"]
    assert not any(span.is_error for span in spans.values())


def test_the_trace_of_a_create_reaches_the_suggestions_that_are_made_for_it(
    admin: Traceline, collector: Collector
) -> None:
    text = requirement(title=texts.words(4), description=texts.words(8))
    scored = ("traceline-suggestion-worker", "score items")
    for path in ("/requirements", "/test-cases"):
        response = admin.post(path, json=text)
        made = ok(response, 201)
        trace_of(collector, response.headers["x-request-id"], scored)  # before the other: they are scored together
    assert admin.items("/suggestions", test_case_id=made["id"])
    places = (
        ("traceline-suggestion-worker", "process catalog.test_case.created"),
        scored,
        ("traceline-suggestion-worker", "publish suggestion.item.generated"),
        ("traceline-notification-worker", "process suggestion.item.generated"),
    )
    spans = trace_of(collector, response.headers["x-request-id"], *places)
    processed, scoring, published, notified = (spans[place] for place in places)
    assert scoring.parent == processed.id
    assert {published.parent, notified.parent} == {scoring.id}


def test_a_request_that_fails_marks_its_trace(stack: RunningStack, admin: Traceline, collector: Collector) -> None:
    stack.stop_program("notification-service")
    try:
        response = admin.get("/notifications")
    finally:
        stack.start_program("notification-service")
        stack.wait_ready()
    assert response.status_code == 503

    spans = trace_of(
        collector,
        response.headers["x-request-id"],
        ("traceline-gateway", "GET /api/v1/notifications"),
        ("traceline-gateway", "GET notification-service"),
    ).values()
    failed = {span.name: span.attributes["error.type"] for span in spans if span.is_error}
    assert failed == {"GET /api/v1/notifications": "503", "GET notification-service": "Unavailable"}

    trace = next(iter(spans)).trace
    lines = [line for number in (0, 1) for line in stack.log(f"gateway-{number}").splitlines() if trace in line]
    assert any("GET /api/v1/notifications is answered with 503" in line for line in lines), "the log names the trace"


def test_probes_and_loops_fill_no_traces(admin: Traceline, collector: Collector) -> None:
    assert admin.get("/requirements").status_code == 200
    # A request that changes who may do what has the gateway read the feed: that is in its trace, and no loop.
    names = {span.name for span in collector.spans if not span.parent}
    assert not {name for name in names if "livez" in name or "readyz" in name or "/internal/changes" in name}
