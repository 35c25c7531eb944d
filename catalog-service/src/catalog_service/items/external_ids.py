"""External ids as a part of an address."""

from typing import Annotated
from urllib.parse import unquote_to_bytes

from fastapi import Path, Request
from starlette.convertors import PathConvertor, register_url_convertor

from chassis.core.problems import Invalid
from chassis.web import strict_json

ExternalId = Annotated[
    str,
    Path(
        description="The external_id, percent-encoded: slashes, blanks and every other character may be in it.",
        examples=["REQ-42"],
    ),
]


class _AnyText(PathConvertor):
    """The rest of an address, whatever is in it: of `path`, a line break is no part and one at the end is lost."""

    regex = r"[\s\S]*"


register_url_convertor("text", _AnyText())


def check_external_id(request: Request, external_id: str) -> None:
    """Raise Invalid for an external_id of the address that no item can have."""
    sent: bytes = (request.scope.get("raw_path") or request.scope["path"].encode()).partition(b"?")[0]
    if not strict_json.is_storable(unquote_to_bytes(sent).decode("utf-8", "surrogateescape")):
        message, code = "The external_id holds NUL (U+0000) or is not UTF-8; remove it.", "invalid_text"
    elif not external_id or external_id.isspace():
        message, code = "The external_id is blank; write it behind the last slash of the address.", "blank"
    elif len(external_id) > 100:
        message, code = "An external_id has at most 100 characters.", "string_too_long"
    else:
        return
    raise Invalid.field("/path/external_id", message, code)
