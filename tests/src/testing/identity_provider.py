"""A real identity provider for tests: oidc-provider on Node, and a browser that signs in at it."""

import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Self
from urllib.parse import urljoin

import httpx

from chassis.local import free_ports

FOLDER = Path(__file__).resolve().parents[2] / "identity_provider"
_NODE = Path(sys.prefix) / "bin" / "node"
_READY_WITHIN = 300.0
_FORM = re.compile(r'<form[^>]* action="([^"]+)" method="post">')
_HIDDEN = re.compile(r'<input type="hidden" name="([^"]+)" value="([^"]*)"')
_STEPS = 20

Json = dict[str, Any]


class IdentityProvider:
    """The program of tests/identity_provider. As a context manager it runs inside, and is stopped at the end."""

    def __init__(self) -> None:
        self.port = free_ports.free_port(None, set())
        self.issuer = f"http://localhost:{self.port}"
        self._http = httpx.Client(base_url=f"http://127.0.0.1:{self.port}", timeout=10, trust_env=False)
        self._process: subprocess.Popen[bytes] | None = None

    def client(self, base_url: str) -> tuple[str, str]:
        """Register a Traceline at `base_url` as a client; return its id and its secret."""
        api = f"{base_url}/api/v1/auth/oidc"
        body = {
            "redirect_uris": [f"{api}/callback"],
            "backchannel_logout_uri": f"{api}/backchannel-logout",
            "backchannel_logout_session_required": True,
        }
        registered = self._http.post("/reg", json=body).raise_for_status().json()
        return registered["client_id"], registered["client_secret"]

    def takes_secrets(self, client_id: str, *secrets: str) -> None:
        """Have a client show one of these from now on."""
        self._tell(f"secrets/{client_id}", secrets)

    def person(self, subject: str, **claims: Any) -> None:
        """Say who somebody is, who signs in by this name and any password."""
        self._tell(f"people/{subject}", claims)

    def tamper(self, claims: Json | None = None, *, key: str | None = None) -> None:
        """Have the next ID token hold other claims, or be signed by another key: `foreign`, `none` or `public`."""
        self._tell("tampered", {"claims": claims or {}, "key": key})

    def be_away(self, is_away: bool = True) -> None:
        """End every connection without an answer, or answer again."""
        self._tell("away", is_away)

    def signed(self, claims: Json, **how: str) -> str:
        """Return a token that the provider has signed; a claim that is None is left out."""
        token: str = self._tell("signed", {"claims": claims, **how})["token"]
        return token

    def _tell(self, what: str, body: object) -> Json:
        told: Json = self._http.put(f"/test/{what}", json=body).raise_for_status().json()
        return told

    def __enter__(self) -> Self:
        command: list[str | Path] = [_NODE, FOLDER / "provider.js", str(self.port)]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        end = time.monotonic() + _READY_WITHIN
        while not self._is_ready():
            if self._process.poll() is not None or time.monotonic() > end:
                self._process.kill()
                output = self._process.communicate()[0].decode()
                raise RuntimeError(f"The identity provider did not start; its packages come by `make test`.\n{output}")
            time.sleep(0.05)
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process is not None, "it was started"
        self._http.close()
        self._process.kill()
        self._process.communicate()

    def _is_ready(self) -> bool:
        try:
            return self._http.get("/.well-known/openid-configuration").status_code == 200
        except httpx.TransportError:
            return False


class Browser:
    """What a person signs in with: it keeps cookies, follows redirects and fills the provider's forms in."""

    def __init__(self, base_url: str) -> None:
        """`base_url` is Traceline's."""
        self.base_url = base_url
        self._callback = f"{base_url}/api/v1/auth/oidc/callback"
        headers = {"Accept": "text/html,application/xhtml+xml"}
        self.http = httpx.Client(base_url=base_url, timeout=30, headers=headers, trust_env=False)

    def begin(self, return_to: str | None = None) -> str:
        """Press the button; return the address at the provider that Traceline sends the browser to."""
        query = {} if return_to is None else {"return_to": return_to}
        response = self.http.get("/api/v1/auth/oidc/login", params=query)
        assert response.status_code == 303, response.text
        return response.headers["location"]

    def answer(self, name: str, address: str | None = None, *, refuse: bool = False) -> str:
        """Prove at the provider to be somebody, or refuse to; return the address that it sends the browser back to.

        Args: `address` is where to begin, else the button is pressed.
        """
        response = self.http.get(address or self.begin())
        for _ in range(_STEPS):
            if response.is_redirect:
                following = urljoin(str(response.url), response.headers["location"])
                if following.startswith(self._callback):
                    return following
                response = self.http.get(following)
                continue
            form = _FORM.search(response.text)
            assert form is not None, response.text
            if refuse:
                response = self.http.get(f"{urljoin(str(response.url), form[1])}/abort")
                continue
            fields = {**dict(_HIDDEN.findall(response.text)), "login": name, "password": "any"}
            response = self.http.post(urljoin(str(response.url), form[1]), data=fields)
        raise AssertionError("The provider never sent the browser back.")

    def sign_in(self, name: str, return_to: str | None = None) -> httpx.Response:
        """Sign in; return what the callback answers."""
        return self.http.get(self.answer(name, self.begin(return_to)))

    def session(self) -> Json:
        """Return the session as the page reads it."""
        read: Json = self.http.get("/session", headers={"Sec-Fetch-Site": "same-origin"}).raise_for_status().json()
        return read

    def sign_out_at(self, issuer: str) -> None:
        """Log out at the provider."""
        page = self.http.get(f"{issuer}/session/end")
        form = re.search(r'action="([^"]+)"', page.text)
        assert form is not None, page.text
        fields = {**dict(_HIDDEN.findall(page.text)), "logout": "yes"}
        assert self.http.post(form[1], data=fields).status_code < 400
