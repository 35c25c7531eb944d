"""Tokens: what ours are, and that nobody else's are taken."""

import base64
import json

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from acceptance.client import Json, Traceline, ok, problem
from acceptance.waiting import eventually

pytestmark = pytest.mark.requirement("TL-USER-2")

TYPED = {"typ": "at+jwt"}


@pytest.fixture(scope="module")
def token(reviewer: Traceline) -> str:
    assert reviewer.token is not None
    return reviewer.token


@pytest.fixture(scope="module")
def claims(token: str) -> Json:
    return jwt.decode(token, options={"verify_signature": False})


def refused(anyone: Traceline, token: str) -> None:
    for path in ("/requirements", "/auth/me"):
        response = anyone.with_token(token).get(path)
        problem(response, 401)
        assert response.headers["www-authenticate"].startswith("Bearer")


def test_a_token_can_be_checked_with_the_public_keys(anyone: Traceline, reviewer: Traceline) -> None:
    token, me = str(reviewer.token), reviewer.me()
    keys = {key["kid"]: key for key in anyone.read("/auth/jwks.json")["keys"]}
    header = jwt.get_unverified_header(token)
    assert header["alg"] in {"EdDSA", "ES256"}
    key = keys[header["kid"]]
    assert not {"d", "k", "p", "q"} & set(key), "a private part is public"
    claims = jwt.decode(token, jwt.PyJWK(key, header["alg"]).key, [header["alg"]], options={"verify_aud": False})
    assert claims["sub"] == str(me["id"])
    assert claims["email"] == me["email"]
    assert claims["role"] == "reviewer"
    assert set(claims) >= {"iss", "aud", "iat", "exp", "jti"}


def test_what_is_no_bearer_token_is_refused(anyone: Traceline) -> None:
    for header in ("", "Bearer", "Bearer x", "Bearer a.b.c", "Basic YTpi", "Bearer null", "Bearer \xe4.\xe4.\xe4"):
        response = anyone.get("/requirements", headers={"Authorization": header.encode("latin-1")})
        problem(response, 401)
        assert response.headers["www-authenticate"].startswith("Bearer"), header


def test_a_token_with_another_role_in_its_claims_is_refused(anyone: Traceline, token: str, claims: Json) -> None:
    header, _, signature = token.split(".")
    payload = base64.urlsafe_b64encode(json.dumps(claims | {"role": "admin"}).encode()).rstrip(b"=").decode()
    refused(anyone, f"{header}.{payload}.{signature}")


def test_a_token_without_a_signature_is_refused(anyone: Traceline, token: str, claims: Json) -> None:
    refused(anyone, jwt.encode(claims | {"role": "admin"}, "", algorithm="none"))
    refused(anyone, token.rsplit(".", 1)[0] + ".")
    refused(anyone, token.rsplit(".", 1)[0])


def test_a_token_signed_by_somebody_else_is_refused(anyone: Traceline, token: str, claims: Json) -> None:
    kid = jwt.get_unverified_header(token)["kid"]
    for headers in ({"kid": kid, **TYPED}, {"kid": "ours", **TYPED}, {}):
        refused(anyone, jwt.encode(claims, Ed25519PrivateKey.generate(), "EdDSA", headers=headers))
        refused(anyone, jwt.encode(claims, ec.generate_private_key(ec.SECP256R1()), "ES256", headers=headers))


def test_a_token_that_brings_its_own_key_is_refused(anyone: Traceline, claims: Json) -> None:
    key = Ed25519PrivateKey.generate()
    public = json.loads(jwt.get_algorithm_by_name("EdDSA").to_jwk(key.public_key()))
    refused(anyone, jwt.encode(claims, key, "EdDSA", headers={"jwk": public, "kid": "mine", **TYPED}))
    refused(
        anyone, jwt.encode(claims, key, "EdDSA", headers={"jku": "http://127.0.0.1:9/jwks", "kid": "mine", **TYPED})
    )


def test_a_renewed_token_works_as_the_one_before_and_ends_with_it(admin: Traceline) -> None:
    user = admin.new_user("viewer")
    other = user.logged_in(user.me()["email"])
    renewed = user.with_token(ok(user.post("/auth/renew"))["access_token"])
    assert renewed.me() == user.me()
    assert renewed.post("/auth/logout").status_code == 204
    for ended in (renewed, user):
        eventually(lambda ended=ended: ended.get("/auth/me").status_code, "the end of the session", equals=401)
    other.read("/auth/me")
