"""One OpenAPI 3.1 document of all services, and the page that shows it."""

import asyncio
import re
from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from importlib.resources import files

from fastapi.openapi.docs import get_swagger_ui_html
from starlette.staticfiles import StaticFiles

from chassis.web.peers import Peer
from chassis.web.responses import encode
from gateway.documentation.merging import merge

OPENAPI_PATH = "/api/v1/openapi.json"
ASSETS_PATH = "/docs/assets"

# The newest Swagger UI as a package: the page must work where no other server can be reached.
assets = StaticFiles(directory=str(files("fastapi_offline").joinpath("static")))

_PLUGINS = b"""plugins: [() => ({
        // What stays in the browser is the token, never the password.
        statePlugins: {auth: {wrapActions: {authorizeOauth2: (keep) => ({auth, token}) =>
            keep({auth: {...auth, password: ""}, token})}}},
        // An error says its codes in a line: as a whole document each would hide what the others are.
        wrapComponents: {response: (Response, {React, getComponent}) => (props) => props.code < "400"
            ? React.createElement(Response, props)
            : React.createElement("tr", {className: "response", "data-code": props.code},
                React.createElement("td", {className: "response-col_status"}, props.code),
                React.createElement("td", {className: "response-col_description"},
                    React.createElement(getComponent("Markdown"), {source: props.response.get("description")})))},
        // The filter looks at addresses and summaries, too, not at the names of groups alone.
        fn: {opsFilter: (groups, phrase) => groups.map((group, name) =>
            group.update("operations", (all) => all.filter((one) =>
                [name, one.get("method"), one.get("path"), one.getIn(["operation", "summary"])]
                    .join(" ").toLowerCase().includes(phrase.toLowerCase())))
        ).filter((group) => group.get("operations").size)},
    })],
    """

HTML = bytes(
    get_swagger_ui_html(
        openapi_url=OPENAPI_PATH,
        title="Traceline API",
        swagger_js_url=f"{ASSETS_PATH}/swagger-ui-bundle.js",
        swagger_css_url=f"{ASSETS_PATH}/swagger-ui.css",
        swagger_favicon_url=f"{ASSETS_PATH}/favicon.png",
        swagger_ui_parameters={
            "persistAuthorization": True,
            "filter": True,
            "displayRequestDuration": True,
            "defaultModelsExpandDepth": 0,
        },
    ).body
).replace(b"presets: [", _PLUGINS + b"presets: [", 1)

(_SCRIPT,) = re.findall(rb"<script>(.*?)</script>", HTML, re.DOTALL)
_SCRIPT_HASH = b64encode(sha256(_SCRIPT).digest()).decode()
# Swagger UI sets styles of its own while it runs, and has its pictures in its style sheet.
PAGE_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; connect-src 'self'; img-src 'self' data:;"
    f" script-src 'self' 'sha256-{_SCRIPT_HASH}'; style-src 'self' 'unsafe-inline';"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}


class Documentation:
    """Merges the services' documents when first asked, and keeps the result."""

    def __init__(self, services: Mapping[str, Peer]) -> None:
        self._services = services
        self._document: bytes | None = None

    async def document(self) -> bytes:
        """Return the merged document; raise Unavailable while a service does not answer."""
        if self._document is None:
            responses = await asyncio.gather(*(peer.get("/openapi.json") for peer in self._services.values()))
            self._document = encode(merge([response.json() for response in responses]))
        return self._document
