"""The apps of all services, without a database: what they document and refuse needs none."""

from copy import deepcopy
from typing import Any

import pytest
from fastapi import FastAPI

from chassis.core.internal_tokens import GATEWAY
from embedded import openapi
from gateway.documentation.merging import merge
from testing.internal import KEYS


@pytest.fixture(scope="session")
async def apps() -> dict[str, FastAPI]:
    return await openapi.apps(KEYS[GATEWAY])


@pytest.fixture(scope="session")
def documents(apps: dict[str, FastAPI]) -> dict[str, dict[str, Any]]:
    return {name: app.openapi() for name, app in apps.items()}


@pytest.fixture(scope="session")
def document(documents: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The one document of all, as the gateway makes it."""
    return merge(deepcopy(list(documents.values())))
