"""Each internal address of a service says who may call it, and nobody else may."""

from fastapi import FastAPI
from fastapi.routing import APIRoute

from chassis.core.internal_tokens import GATEWAY
from contracts.routes import AUTH, SERVICES, internal_callers


def test_every_internal_address_lists_its_callers(apps: dict[str, FastAPI]) -> None:
    there = {
        context: {route.path for route in app.routes if isinstance(route, APIRoute) and "/internal/" in route.path}
        for context, app in apps.items()
    }
    assert there == {service.context: set(internal_callers(service)) for service in SERVICES}


def test_a_feed_is_open_to_those_who_act_on_its_events() -> None:
    for service in SERVICES:
        followers = {other.name for other in SERVICES if set(other.consumes) & set(service.publishes)}
        callers = internal_callers(service)
        assert callers["/internal/changes"] == followers | ({GATEWAY} if service is AUTH else set())
        assert callers["/internal/feed-consumers/{consumer}"] == followers


def test_who_may_call_what_beside_feeds() -> None:
    assert {
        (service.context, path.removeprefix("/internal/")): callers
        for service in SERVICES
        for path, callers in internal_callers(service).items()
        if not path.startswith(("/internal/changes", "/internal/feed-consumers/"))
    } == {
        ("auth", "access-changes"): {"gateway"},
        ("auth", "access-notices"): {"gateway"},
        ("auth", "access-use"): {"gateway"},
        ("auth", "projects"): {"gateway"},
        ("catalog", "links/by-suggestion"): {"suggestion-service"},
        ("catalog", "links/undone-by-suggestion"): {"suggestion-service"},
        ("catalog", "proposals/checked"): {"suggestion-service"},
        ("catalog", "proposals/applied"): {"suggestion-service"},
        ("catalog", "proposals/undone"): {"suggestion-service"},
    }
