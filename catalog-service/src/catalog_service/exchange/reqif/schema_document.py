"""What an import of ReqIF leaves beside the record, as it may come back from elsewhere: whether it can be written."""

from itertools import chain
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from catalog_service.exchange.reqif.fragments import clean, parsed
from catalog_service.exchange.reqif.schema import Schema


def _of_xml(text: str) -> str:
    if text != clean(text):
        raise ValueError("XML cannot hold this text.")
    return text


def _one_element(markup: str) -> str:
    if len(parsed(markup)) != 1:
        raise ValueError("This is not one element.")
    return markup


_Text = Annotated[str, AfterValidator(_of_xml)]
_Markup = Annotated[str, AfterValidator(_one_element)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _More(_Part):
    simplified: _Text = ""
    original: str = ""


_Value = (
    tuple[Literal["enumeration"], _Text, list[_Text]]
    | tuple[Literal["boolean", "date", "integer", "real", "string", "xhtml"], _Text, str | None]
    | tuple[Literal["xhtml"], _Text, str | None, _More]
)


class _Raw(_Part):
    """See collector.Raw."""

    identifier: Annotated[_Text, Field(min_length=1)]
    last_change: str | None = None
    long_name: str | None = None
    desc: str | None = None
    alternative_id: str | None = None
    other: dict[str, str] = {}
    line: int | None = None
    type: str | None = None
    values: list[_Value] = []
    object: _Text = ""
    source: _Text = ""
    target: _Text = ""
    specification: _Text = ""
    relations: list[_Text] = []
    children: list["_Raw"] = []


class _File(_Part):
    name: str | None
    header: str
    datatypes: dict[str, _Markup]
    types: dict[str, _Markup]
    specifications: list[_Raw]
    groups: list[_Raw]
    extensions: list[_Markup]


class _Document(_Part):
    version: Literal[1]
    files: list[_File]
    structure: list[_Raw]
    relations: list[_Raw]
    unknown_objects: list[str]


def check_writable(content: Any) -> None:
    """Raise ValidationError, XMLSyntaxError or Unreadable unless an export can write this document."""
    document = _Document.model_validate(content)
    Schema().add(
        chain.from_iterable(file.datatypes.values() for file in document.files),
        chain.from_iterable(file.types.values() for file in document.files),
    )
