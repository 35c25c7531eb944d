"""Agents, and what they propose."""

from typing import Any

import pytest

from chassis.core.identity import Identity, Role
from testing.service import ServiceClient

AGENT = Identity(5, "owner@example.test", Role.REVIEWER, token_id="tlp_7", token_name="code reader")
OTHER_AGENT = Identity(6, "other@example.test", Role.REVIEWER, token_id="tlp_8", token_name="test writer")


@pytest.fixture
def agent(service: Any) -> ServiceClient:
    client: ServiceClient = service.client(AGENT)
    client.headers["user-agent"] = "coder/2.1 (linux)"
    return client


@pytest.fixture
def other_agent(service: Any) -> ServiceClient:
    client: ServiceClient = service.client(OTHER_AGENT)
    return client
