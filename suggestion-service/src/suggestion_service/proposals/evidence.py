"""What an agent shows for a proposal: places of files, addresses, commits, runs and items."""

import re
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

_IGNORED_BY_BROWSERS = re.compile(r"[\x00-\x20\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]+")
_UNSAFE = re.compile(r"(?:javascript|vbscript|data|file|blob|about|view-source|jar):", re.IGNORECASE)
_WEB = re.compile(r"https?://[^/\s]", re.IGNORECASE)

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class Evidence(BaseModel):
    """A place that speaks for the proposal; `quote` is what stands there.

    Of type `url`, `ref` is an address that begins with https:// or http://. Nothing is fetched.
    """

    model_config = ConfigDict(extra="forbid")

    type: Literal["file", "url", "commit", "run", "item"]
    ref: Annotated[Text, Field(max_length=2_000)]
    lines: Annotated[Text | None, Field(max_length=50, description="Such as 12 or 12-20.")] = None
    quote: Annotated[str | None, Field(max_length=500)] = None

    @model_validator(mode="after")
    def _safe(self) -> "Evidence":
        # As a browser reads an address: it leaves out what cannot be seen.
        seen = _IGNORED_BY_BROWSERS.sub("", self.ref)
        if _UNSAFE.match(seen):
            raise ValueError(
                f"the address {self.ref[:40]!r} is refused: give the path in the repository (type file) or an https"
                " address (type url)"
            )
        if self.type == "url" and (seen != self.ref or not _WEB.match(seen)):
            raise ValueError("the ref of type url is an address that begins with https://; a path is of type file")
        return self
