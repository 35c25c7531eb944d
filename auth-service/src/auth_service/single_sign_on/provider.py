"""The identity provider: what is asked of it, and whether what it says is true.

Nobody but whoever sets OIDC_ISSUER decides which addresses are called: the issuer's own, and those of its discovery
document. Each call has a time-out and takes an answer of bounded length, and none follows a redirect.
"""

import asyncio
import logging
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import httpx
import orjson
from authlib.oauth2.auth import ClientAuth
from authlib.oauth2.claims import JWTClaims
from authlib.oauth2.rfc6749.parameters import prepare_grant_uri, prepare_token_request
from authlib.oauth2.rfc7636 import create_s256_code_challenge
from authlib.oidc.core import CodeIDToken
from authlib.oidc.discovery import get_well_known_url
from joserfc import jwt
from joserfc.errors import ClaimError, JoseError
from joserfc.jwk import KeySet

from chassis.core.problems import MalformedBody, Problem, Unauthenticated, Unavailable

_log = logging.getLogger(__name__)

_SIGNED_BY = [
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "Ed25519", "EdDSA"),
]
"""Algorithms with a public key: with a shared one, or none, others than the provider could sign."""
_LEEWAY = 30
_DEADLINE = 8.0
_LONGEST_ANSWER = 1024 * 1024
_KNOWN_FOR = 600.0
_KEYS_ANEW_AFTER = 5.0
_LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout"
_LOGOUT_TYPE = "logout+jwt"
"""What the header of a logout token says that it is; some providers say nothing, or that it is a JWT."""
_LOGOUT_WITHIN = 300.0
"""Seconds after which a logout token is too old to be sent for the first time."""

Claims = dict[str, Any]


@dataclass(slots=True)
class _Known:
    """A document of the provider's, and when it was read."""

    document: Claims
    at: float = field(default_factory=time.monotonic)

    @property
    def age(self) -> float:
        return time.monotonic() - self.at


class Provider:
    """One provider, of which Traceline is a client; see ProviderSettings in the settings of this service."""

    def __init__(self, issuer: str, client_id: str, client_secret: str | None, scopes: str, redirect_uri: str) -> None:
        self.issuer = issuer
        self._client_id = client_id
        self._client_secret = client_secret
        self._scopes = scopes
        self._redirect_uri = redirect_uri
        self._metadata: _Known | None = None
        self._keys: _Known | None = None

    async def sign_in_address(self, *, state: str, nonce: str, verifier: str) -> str:
        """Return where a browser is sent; raise Unavailable while the provider is away."""
        address: str = prepare_grant_uri(
            await self._endpoint("authorization_endpoint"),
            self._client_id,
            "code",
            redirect_uri=self._redirect_uri,
            scope=self._scopes,
            state=state,
            nonce=nonce,
            code_challenge=create_s256_code_challenge(verifier),
            code_challenge_method="S256",
        )
        return address

    async def redeem(self, code: str, *, nonce: str, verifier: str) -> Claims:
        """Return what the provider says of whom a code was given for: the claims of the ID token, and of user info.

        Raises Unauthenticated when the code or the ID token is not for this sign-in, and Unavailable.
        """
        endpoint = await self._endpoint("token_endpoint")
        body = prepare_token_request(
            "authorization_code", redirect_uri=self._redirect_uri, code=code, code_verifier=verifier
        )
        headers = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
        endpoint, headers, body = self._authentication(await self._document()).prepare("POST", endpoint, headers, body)
        status, answer = await self._ask("POST", endpoint, headers, body)
        if status != 200:
            raise self._refused(answer)
        id_token, access_token = answer.get("id_token"), answer.get("access_token")
        if not isinstance(id_token, str) or not isinstance(access_token, str):
            raise _unusable("its token endpoint gave no ID token")
        claims = await self._verified_id_token(id_token, access_token, nonce)
        return {**await self._user_info(access_token, claims["sub"]), **claims}

    async def logout_claims(self, token: str) -> Claims:
        """Return the claims of a logout token (OpenID Connect Back-Channel Logout 1.0); raise MalformedBody."""
        options: Any = {
            name: {"essential": True, **wanted}
            for name, wanted in {
                "iss": {"value": self.issuer},
                "aud": {"value": self._client_id},
                "iat": {},
                "jti": {},
                "events": {},
            }.items()
        }
        try:
            read = await self._decoded(token)
            claims = JWTClaims(read.claims, read.header, options=options)
            claims.validate(leeway=_LEEWAY)
        except (JoseError, ValueError) as error:
            raise _no_logout_token(_why(error)) from None
        events = claims["events"]
        if not isinstance(events, dict) or not isinstance(events.get(_LOGOUT_EVENT), dict):
            raise _no_logout_token("events")
        if "nonce" in claims:
            raise _no_logout_token("nonce")
        if not any(isinstance(claims.get(name), str) and claims[name] for name in ("sub", "sid")):
            raise _no_logout_token("neither sub nor sid")
        if str(read.header.get("typ", _LOGOUT_TYPE)).lower() not in (_LOGOUT_TYPE, "jwt"):
            raise _no_logout_token("typ")
        if time.time() - claims["iat"] > _LOGOUT_WITHIN:
            raise _no_logout_token("iat: it is too old")
        return dict(claims)

    async def _verified_id_token(self, token: str, access_token: str, nonce: str) -> Claims:
        options: Any = {
            "iss": {"essential": True, "value": self.issuer},
            "aud": {"essential": True, "value": self._client_id},
            "sub": {"essential": True},
            "nonce": {"essential": True},
        }
        parameters = {"nonce": nonce, "client_id": self._client_id, "access_token": access_token}
        try:
            read = await self._decoded(token)
            claims = CodeIDToken(read.claims, read.header, options=options, params=parameters)
            claims.validate(leeway=_LEEWAY)
        except (JoseError, ValueError) as error:
            why = _why(error)
            _log.warning("An ID token of %s was refused: %s.", self.issuer, why)
            raise Unauthenticated(
                f"What the identity provider answered is not for this sign-in ({why}); sign in again. If it stays so,"
                " tell whoever runs Traceline.",
                code="id_token_invalid",
            ) from None
        return dict(claims)

    async def _user_info(self, access_token: str, subject: str) -> Claims:
        if (await self._document()).get("userinfo_endpoint") is None:
            return {}
        endpoint = await self._endpoint("userinfo_endpoint")
        headers = {"Authorization": f"Bearer {access_token}", "Accept": "application/json"}
        status, answer = await self._ask("GET", endpoint, headers)
        if status != 200:
            raise _unusable(f"its user info endpoint answered {status}")
        if answer.get("sub") != subject:
            raise _unusable("its user info is of another subject")
        return answer

    async def _decoded(self, token: str) -> jwt.Token:
        """Return what a token holds, when one of the provider's keys has signed it; raise JoseError."""
        keys = await self._read_keys(_KNOWN_FOR)
        try:
            return jwt.decode(token, KeySet.import_key_set(keys), algorithms=_SIGNED_BY)  # type: ignore[arg-type]
        except (JoseError, ValueError):
            newer = await self._read_keys(_KEYS_ANEW_AFTER)
            if newer is keys:
                raise
        return jwt.decode(token, KeySet.import_key_set(newer), algorithms=_SIGNED_BY)  # type: ignore[arg-type]

    async def _read_keys(self, known_for: float) -> Claims:
        if self._keys is None or self._keys.age > known_for:
            status, answer = await self._ask("GET", await self._endpoint("jwks_uri"))
            if status != 200 or not isinstance(answer.get("keys"), list):
                raise _unusable(f"its keys were answered with {status}")
            self._keys = _Known(answer)
        return self._keys.document

    async def _document(self) -> Claims:
        """Return what the provider says of itself (OpenID Connect Discovery 1.0)."""
        if self._metadata is None or self._metadata.age > _KNOWN_FOR:
            status, answer = await self._ask("GET", get_well_known_url(self.issuer, external=True))
            if status != 200:
                raise _unusable(f"its discovery document was answered with {status}")
            if answer.get("issuer") != self.issuer:
                raise _unusable("its discovery document names another issuer than OIDC_ISSUER")
            self._metadata = _Known(answer)
        return self._metadata.document

    async def _endpoint(self, name: str) -> str:
        address = (await self._document()).get(name)
        schemes = ("https://",) if self.issuer.startswith("https:") else ("https://", "http://")
        if not isinstance(address, str) or not address.startswith(schemes):
            raise _unusable(f"its discovery document has no {name} with https")
        return address

    def _authentication(self, metadata: Mapping[str, Any]) -> ClientAuth:
        if self._client_secret is None:
            return ClientAuth(self._client_id, None, "none")
        taken = metadata.get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
        method = "client_secret_basic" if "client_secret_basic" in taken else "client_secret_post"
        return ClientAuth(self._client_id, self._client_secret, method)

    async def _ask(
        self, method: str, address: str, headers: Mapping[str, str] | None = None, body: str | None = None
    ) -> tuple[int, Claims]:
        """Return the status and the JSON object that are answered; raise Unavailable."""
        content = b""
        verify = _trusted() if address.startswith("https:") else False
        try:
            async with (
                asyncio.timeout(_DEADLINE),
                httpx.AsyncClient(timeout=_DEADLINE, verify=verify) as client,
                client.stream(method, address, headers=headers, content=body) as response,
            ):
                async for part in response.aiter_bytes():
                    content += part
                    if len(content) > _LONGEST_ANSWER:
                        raise _unusable("an answer of it is too long")
        except (httpx.HTTPError, httpx.InvalidURL, OSError, TimeoutError) as error:
            _log.warning(
                "The identity provider %s does not answer: %s.", self.issuer, str(error) or type(error).__name__
            )
            raise _away() from None
        if response.status_code >= 500:
            _log.warning("The identity provider %s answered %s.", self.issuer, response.status_code)
            raise _away()
        try:
            answer = orjson.loads(content)
        except ValueError:
            answer = None
        return response.status_code, answer if isinstance(answer, dict) else {}

    def _refused(self, answer: Mapping[str, Any]) -> Problem:
        error = str(answer.get("error", ""))
        if error == "invalid_grant":
            return Unauthenticated(
                "The identity provider does not take the code of this sign-in: it was used, is too old, or was given"
                " for something else; sign in again.",
                code="code_refused",
            )
        return _unusable(
            f"its token endpoint answered {error[:40]!r}; OIDC_CLIENT_ID or OIDC_CLIENT_SECRET may be wrong"
        )


@cache
def _trusted() -> ssl.SSLContext:
    return httpx.create_ssl_context()


def _why(error: JoseError | ValueError) -> str:
    """Return the claim that is wrong, or in a word what else is."""
    if isinstance(error, ClaimError):
        return error.claim
    return error.error if isinstance(error, JoseError) else "malformed"


def _away() -> Unavailable:
    return Unavailable(
        "The identity provider does not answer; try again in a minute. If it stays so, tell whoever runs it.",
        code="provider_unavailable",
        retry_after=10,
    )


def _unusable(why: str) -> Unavailable:
    """Return the problem of a provider that answers, but not as it must; the log says how."""
    _log.error("The identity provider cannot be used: %s.", why)
    return Unavailable(
        "The identity provider answered something that Traceline cannot use; tell whoever runs Traceline, whose log"
        " says what.",
        code="provider_unusable",
        retry_after=60,
    )


def _no_logout_token(why: str) -> MalformedBody:
    return MalformedBody(
        f"This is no logout token of the identity provider for Traceline ({why}).", code="logout_token_invalid"
    )
