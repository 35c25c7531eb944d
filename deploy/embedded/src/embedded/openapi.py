"""The merged OpenAPI document as the gateway answers it, without a database or a server."""

import asyncio
import sys
from typing import Any

import httpx
from fastapi import FastAPI

from chassis.core.internal_tokens import GATEWAY, InternalSigner, InternalVerifier, new_signing_key, public_key
from chassis.db.database import Database
from chassis.web.peers import Peer
from chassis.web.responses import encode
from embedded.services import SERVICES
from gateway.documentation.merging import merge

_NOWHERE = "postgresql://nobody@localhost/nothing"  # never opened


async def apps(signing_key: str | None = None) -> dict[str, FastAPI]:
    """Return the app of each service by its context, able to document and to refuse requests, and no more.

    `signing_key` is that of the gateway; None: nobody has it.
    """
    key = signing_key or new_signing_key(GATEWAY)
    signer = InternalSigner(key)
    database = Database(_NOWHERE)
    async with httpx.AsyncClient() as client:
        peers = {service.name: Peer(service.name, client, signer) for service in SERVICES}
        return {
            service.name.removesuffix("-service"): service.create_app(
                service.settings(database_url=_NOWHERE),
                database,
                InternalVerifier(service.name, [public_key(key)]),
                peers,
            )
            for service in SERVICES
        }


async def document() -> dict[str, Any]:
    """Return the one document of all services."""
    return merge([app.openapi() for app in (await apps()).values()])


if __name__ == "__main__":
    sys.stdout.buffer.write(encode(asyncio.run(document())) + b"\n")
