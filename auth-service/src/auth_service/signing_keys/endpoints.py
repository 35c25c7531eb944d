"""The HTTP door to the public keys."""

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel

from auth_service.signing_keys import service
from chassis.db.database import Db
from chassis.web.problem_documents import with_headers
from chassis.web.responses import item
from chassis.web.strict_route import StrictRoute

router = APIRouter(prefix="/api/v1", route_class=StrictRoute, tags=["Authentication"])

_CACHE_CONTROL = f"public, max-age={service.KEPT_BY_READERS.seconds}"


class PublicKey(BaseModel):
    """A public key of Ed25519 (RFC 8037)."""

    kty: str
    crv: str
    use: str
    alg: str
    kid: str
    x: str


class KeySet(BaseModel):
    """A JSON Web Key Set (RFC 7517)."""

    keys: list[PublicKey]


@router.get(
    "/auth/jwks.json",
    summary="Read the public keys that tokens are checked with",
    response_model=KeySet,
    responses=with_headers("ETag"),
)
async def get_public_keys(request: Request, database: Db) -> Response:
    """A new key is here before it signs, and an old one until its last token has expired."""
    return item(request, await service.public_keys(database), headers={"Cache-Control": _CACHE_CONTROL})
