"""The apps of all services, without a database: what they document and refuse needs none."""

from copy import deepcopy
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

import auth_service.app
import auth_service.settings
import catalog_service.app
import catalog_service.settings
import notification_service.app
import notification_service.settings
import suggestion_service.app
import suggestion_service.settings
from chassis.core.identity import InternalTokens
from chassis.db.database import Database
from chassis.web.peers import Peer
from gateway.merging import merge

SECRET = "the quick brown fox signs for the lazy dog"
NOWHERE = "postgresql://nobody@localhost/nothing"  # never opened


@pytest.fixture(scope="session")
async def apps() -> dict[str, FastAPI]:
    tokens = InternalTokens(SECRET)
    database = Database(NOWHERE)
    required = {"database_url": NOWHERE, "internal_token_secret": SECRET}
    async with httpx.AsyncClient(base_url="http://catalog") as client:
        catalog = Peer("catalog-service", client, tokens, "suggestion-service")
        return {
            "auth": auth_service.app.create_app(auth_service.settings.Settings(**required), database, tokens),
            "catalog": catalog_service.app.create_app(catalog_service.settings.Settings(**required), database, tokens),
            "suggestion": suggestion_service.app.create_app(
                suggestion_service.settings.Settings(**required), database, tokens, catalog
            ),
            "notification": notification_service.app.create_app(
                notification_service.settings.Settings(**required), database, tokens
            ),
        }


@pytest.fixture(scope="session")
def documents(apps: dict[str, FastAPI]) -> dict[str, dict[str, Any]]:
    return {name: app.openapi() for name, app in apps.items()}


@pytest.fixture
def document(documents: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The one document of all, as the gateway makes it."""
    return merge(deepcopy(list(documents.values())))
