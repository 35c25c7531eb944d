"""The filters of lists, as models of their queries."""

from typing import Annotated, ClassVar

from pydantic import BaseModel, ConfigDict, Field

NOT_FILTERS = frozenset({"skip", "limit", "after", "sort", "expand", "fields"})
"""Parameters of lists that say which of what is found is shown, and how."""

LONGEST_FILTER = 32_768
"""Characters: as many as an address has."""


def filters_alone(query: type[BaseModel], name: str) -> type[BaseModel]:
    """Return a model `name` of the filters of a list, which refuses what is none.

    A filter that was mistyped would change everything.
    """
    others = [field for field in query.model_fields if field in NOT_FILTERS]
    texts = {
        field: Annotated[str | None, about, Field(max_length=LONGEST_FILTER)]
        for field, about in query.model_fields.items()
        if field not in NOT_FILTERS and about.annotation == str | None
    }
    members = {
        "__doc__": "The filters of the list, written as there.",
        "__module__": query.__module__,
        "__annotations__": {**dict.fromkeys(others, ClassVar[object]), **texts},
        "model_config": ConfigDict(extra="forbid"),
        **{field: query.model_fields[field].default for field in (*others, *texts)},
    }
    return type(name, (query,), members)
