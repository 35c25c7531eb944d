"""Each internal address of a service says who may call it, and nobody else may."""

from fastapi import FastAPI
from fastapi.routing import APIRoute

from contracts.routes import SERVICES, internal_callers


def test_every_internal_address_lists_its_callers(apps: dict[str, FastAPI]) -> None:
    there = {
        context: {route.path for route in app.routes if isinstance(route, APIRoute) and "/internal/" in route.path}
        for context, app in apps.items()
    }
    assert there == {service.context: set(internal_callers(service)) for service in SERVICES}


def test_who_may_call_what() -> None:
    assert {
        service.context: {
            path.removeprefix("/internal/"): callers for path, callers in internal_callers(service).items()
        }
        for service in SERVICES
    } == {
        "auth": {
            "changes": {"gateway", "catalog-service", "suggestion-service", "notification-service"},
            "feed-consumers/{consumer}": {"catalog-service", "suggestion-service", "notification-service"},
            "access-changes": {"gateway"},
            "access-notices": {"gateway"},
            "access-use": {"gateway"},
            "projects": {"gateway"},
        },
        "catalog": {
            "changes": {"suggestion-service", "notification-service"},
            "feed-consumers/{consumer}": {"suggestion-service", "notification-service"},
            "links/by-suggestion": {"suggestion-service"},
            "links/undone-by-suggestion": {"suggestion-service"},
        },
        "suggestion": {
            "changes": {"catalog-service", "notification-service"},
            "feed-consumers/{consumer}": {"catalog-service", "notification-service"},
        },
        "notification": {"changes": set(), "feed-consumers/{consumer}": set()},
    }
