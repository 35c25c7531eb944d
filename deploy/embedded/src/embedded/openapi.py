"""The merged OpenAPI document as the gateway answers it, without a database or a server."""

import asyncio
import secrets
import sys
from typing import Any

import httpx
from fastapi import FastAPI

from chassis.core.identity import InternalTokens
from chassis.db.database import Database
from chassis.web.peers import Peer
from chassis.web.responses import encode
from embedded.services import SERVICES
from gateway.documentation.merging import merge

_NOWHERE = "postgresql://nobody@localhost/nothing"  # never opened


async def apps() -> dict[str, FastAPI]:
    """Return the app of each service by its context, able to document and to refuse requests, and no more."""
    secret = secrets.token_hex(32)
    tokens = InternalTokens(secret)
    database = Database(_NOWHERE)
    required: dict[str, Any] = {"database_url": _NOWHERE, "internal_token_secret": secret}
    async with httpx.AsyncClient() as client:
        peers = {service.name: Peer(service.name, client, tokens, "nobody") for service in SERVICES}
        return {
            service.name.removesuffix("-service"): service.create_app(
                service.settings(**required), database, tokens, peers
            )
            for service in SERVICES
        }


async def document() -> dict[str, Any]:
    """Return the one document of all services."""
    return merge([app.openapi() for app in (await apps()).values()])


if __name__ == "__main__":
    sys.stdout.buffer.write(encode(asyncio.run(document())) + b"\n")
