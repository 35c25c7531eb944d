"""The apps of all services, without a database: what they document and refuse needs none."""

from copy import deepcopy
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from chassis.core.identity import InternalTokens
from chassis.db.database import Database
from chassis.web.peers import Peer
from embedded.services import SERVICES
from gateway.documentation.merging import merge

SECRET = "the quick brown fox signs for the lazy dog"
NOWHERE = "postgresql://nobody@localhost/nothing"  # never opened


@pytest.fixture(scope="session")
async def apps() -> dict[str, FastAPI]:
    tokens = InternalTokens(SECRET)
    database = Database(NOWHERE)
    required = {"database_url": NOWHERE, "internal_token_secret": SECRET}
    async with httpx.AsyncClient() as client:
        peers = {service.name: Peer(service.name, client, tokens, "nobody") for service in SERVICES}
        return {
            service.name.removesuffix("-service"): service.create_app(
                service.settings(**required), database, tokens, peers
            )
            for service in SERVICES
        }


@pytest.fixture(scope="session")
def documents(apps: dict[str, FastAPI]) -> dict[str, dict[str, Any]]:
    return {name: app.openapi() for name, app in apps.items()}


@pytest.fixture
def document(documents: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The one document of all, as the gateway makes it."""
    return merge(deepcopy(list(documents.values())))
