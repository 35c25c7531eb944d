"""Calls from one service to another: the few that are synchronous."""

from typing import Any

import httpx

from chassis.core.internal_tokens import InternalSigner
from chassis.core.problems import StorageFull, Unavailable
from chassis.core.request_context import gateway_request_id, request_id
from chassis.observability import telemetry
from chassis.web.patience import Patience
from chassis.web.responses import encode

_CUT = (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError)
"""Most likely a connection that was kept open and that the service has closed by ending: it is asked once more, since
to GET and to PUT the same thing again does no harm."""


class Peer:
    """Another service, called with the caller's own token; every call has a time-out.

    Unavailable is raised as StorageFull where the service has no room.
    """

    def __init__(self, name: str, client: httpx.AsyncClient, signer: InternalSigner, *, patience: float = 0) -> None:
        """`client` knows the base URL and the time-out; `patience`: seconds to wait for a service that restarts."""
        self.name = name
        self._client = client
        self._signer = signer
        self._patience = Patience(patience)

    async def get(self, path: str, params: dict[str, Any] | None = None) -> httpx.Response:
        """GET; raises Unavailable when the service does not answer, answers late or with 5xx."""
        return await self._call("GET", path, params=params)

    async def put(self, path: str, body: Any) -> httpx.Response:
        """PUT a JSON body; raises Unavailable when the service does not answer, answers late or with 5xx."""
        return await self._call("PUT", path, content=encode(body))

    async def _call(self, method: str, path: str, **parts: Any) -> httpx.Response:
        with telemetry.calling(self.name, method) as span:
            response = await self._send(method, path, **parts)
            telemetry.answered(span, response.status_code, at_fault=400)
        if response.status_code == StorageFull.status:
            raise StorageFull(response.json()["detail"])
        if response.status_code >= 500:
            raise Unavailable(f"{self.name} cannot work right now; try again.")
        return response

    async def _send(self, method: str, path: str, **parts: Any) -> httpx.Response:
        headers = {
            "authorization": f"Bearer {self._signer.sign_own(self.name)}",
            "content-type": "application/json",
            "x-request-id": request_id.get() or "none",
            **({"x-gateway-request-id": by_gateway} if (by_gateway := gateway_request_id.get()) else {}),
            **telemetry.headers(),
        }
        was_cut = False
        while True:
            try:
                response = await self._client.request(method, path, headers=headers, **parts)
            except httpx.HTTPError as error:
                if isinstance(error, _CUT) and not was_cut:
                    was_cut = True
                elif not isinstance(error, httpx.ConnectError) or not await self._patience.wait():
                    raise Unavailable(f"{self.name} does not answer right now; try again.") from error
            else:
                self._patience.found()
                return response
