"""Texts of a form, such as keys and names: who sends another one is told in words what the form is."""

import re
from dataclasses import dataclass
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
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
