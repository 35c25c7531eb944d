"""Problems as responses."""

import orjson
from starlette.responses import Response
from starlette.types import Scope

from chassis.core.problems import MEDIA_TYPE, Problem, document
from chassis.core.request_context import CALLED_PATH


def render(problem: Problem, scope: Scope) -> Response:
    """Return the response of `problem`, the same shape from every service and the gateway."""
    raw_path: bytes = scope.get(CALLED_PATH) or scope.get("raw_path") or scope["path"].encode("utf-8", "replace")
    body = document(problem, raw_path.split(b"?")[0].decode("ascii", "replace"))
    return Response(
        orjson.dumps(body, option=orjson.OPT_UTC_Z), problem.status, headers=problem.headers, media_type=MEDIA_TYPE
    )
