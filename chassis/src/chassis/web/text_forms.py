"""Texts of a form, such as keys and names: who sends another one is told in words what the form is."""

import re
import unicodedata
from dataclasses import dataclass
from typing import Any

from pydantic import AfterValidator, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from chassis.core.wording import shown


@dataclass(frozen=True, slots=True)
class TextForm:
    """Stands in `Annotated[str, ...]` for a text that is as `pattern` says, and in the document beside it.

    `fault` is what is wrong with another text, to stand behind it: "is no ...: that ...".
    """

    pattern: str
    fault: str

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """See pydantic."""
        return core_schema.no_info_after_validator_function(self._checked, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """See pydantic."""
        return {**handler(schema), "pattern": f"^{self.pattern}$"}

    def _checked(self, text: str) -> str:
        if re.fullmatch(self.pattern, text):
            return text
        raise PydanticCustomError("malformed_value", "{text} {fault}.", {"text": shown(text), "fault": self.fault})


def _not_blank(text: str) -> str:
    if any(map(_is_visible, text)):
        return text
    raise ValueError("This text must not be blank.")


def _is_visible(character: str) -> bool:
    kind = unicodedata.category(character)
    return kind not in {"Cc", "Cf"} and not kind.startswith("Z")


NOT_BLANK = AfterValidator(_not_blank)
"""Stands in `Annotated[str, ...]` for a text of which something can be seen: blanks and characters that only say how
others are shown, such as U+200B, are not enough.
"""
