"""What POST /imports is asked for, beside the file."""

import re
from enum import StrEnum
from typing import Annotated, Any

from pydantic import BaseModel, Field

from catalog_service.exchange.formats import Kinds
from catalog_service.exchange.registry import FORMATS, find
from chassis.core.problems import FieldError, Invalid


class ApplyWhen(StrEnum):
    """Whether the plan is applied without anybody looking at it."""

    NEVER = "never"
    IF_CLEAN = "if_clean"
    ALWAYS = "always"


class Mode(StrEnum):
    """What becomes of fields that the file does not name."""

    MERGE = "merge"
    REPLACE = "replace"
    RESTORE = "restore"


class OnConflict(StrEnum):
    """What becomes of rows that contradict the record."""

    REFUSE = "refuse"
    SKIP = "skip"
    OVERWRITE = "overwrite"


class Missing(StrEnum):
    """What becomes of items that the file does not have."""

    KEEP = "keep"
    REPORT = "report"
    DELETE = "delete"


class Deleted(StrEnum):
    """What becomes of rows whose item was deleted."""

    SKIP = "skip"
    RECREATE = "recreate"


class LinksOf(StrEnum):
    """What becomes of imported links that the file does not have."""

    MERGE = "merge"
    EXACT = "exact"


class OnChange(StrEnum):
    """What happens when the record changed between the plan and its application."""

    REFUSE = "refuse"
    REPLAN = "replan"


_SCOPE = re.compile(r"(source_system|module|tag):(.*\S.*)", re.DOTALL)


class ReadingQuery(BaseModel):
    """How a file is to be read."""

    format: Annotated[
        str,
        Field(
            description="The format of the file; by default what the file looks like.",
            json_schema_extra={"enum": ["auto", *(known.name for known in FORMATS)]},
        ),
    ] = "auto"
    kind: Annotated[Kinds, Field(description="Which records of the file count; others are left out.")] = Kinds.ALL
    mapping: Annotated[
        str | None,
        Field(description="A saved mapping, by its name or id; instead of it, a form may have a part `mapping`."),
    ] = None
    sheet: Annotated[
        str | None,
        Field(max_length=255, description="The sheet of a workbook that is read, before what the mapping says."),
    ] = None
    header_row: Annotated[
        int | None, Field(ge=1, le=1_048_576, description="The row of a table that has the names of its columns.")
    ] = None
    delimiter: Annotated[
        str | None,
        Field(min_length=1, max_length=1, description="What stands between the cells of a row of CSV.", examples=[";"]),
    ] = None
    encoding: Annotated[
        str | None, Field(description="The encoding of the texts, where it is found wrongly.", examples=["cp1252"])
    ] = None
    source_system: Annotated[
        str | None, Field(max_length=50, description="The system that the items are from, where the file does not say.")
    ] = None
    file_name: Annotated[
        str | None, Field(max_length=255, description="The name of the file, where it is the body itself.")
    ] = None

    def check(self) -> None:
        """Raise UnsupportedMediaType for a format that nobody knows."""
        if self.format != "auto":
            find(self.format)


class ImportQuery(ReadingQuery):
    """What an import is asked to do."""

    apply: Annotated[
        ApplyWhen,
        Field(
            description="`never`: only planned, until POST .../apply. `if_clean`: applied at once unless there is a"
            " conflict, an error, a row without a key, or something of the file that is in no item and no link."
            " `always`: applied at once, without the rows that cannot be."
        ),
    ] = ApplyWhen.NEVER
    mode: Annotated[
        Mode,
        Field(
            description="`merge`: fields that the file does not name stay. `replace`: they fall back to their defaults."
            " `restore`: with ids, versions and times of a native file; for admins."
        ),
    ] = Mode.MERGE
    on_conflict: Annotated[
        OnConflict,
        Field(description="Rows that contradict the record: they are refused, left out, or win where they can."),
    ] = OnConflict.REFUSE
    adopt: Annotated[
        bool, Field(description="Whether items that came from another source system may be taken over.")
    ] = False
    missing: Annotated[
        Missing, Field(description="Items of the scope that the file does not have: kept, reported, or deleted.")
    ] = Missing.KEEP
    scope: Annotated[
        str | None,
        Field(
            description="What `missing` looks at.",
            examples=["source_system:jira", "module:Doors", "tag:safety"],
        ),
    ] = None
    max_deletions: Annotated[
        int | None,
        Field(
            ge=0, le=2**31 - 1, description="More deletions are refused; by default 20 or 5 % of the scope, the larger."
        ),
    ] = None
    deleted: Annotated[Deleted, Field(description="Rows whose item was deleted here: left out, or created again.")] = (
        Deleted.SKIP
    )
    links: Annotated[
        LinksOf, Field(description="`exact` removes imported links of the file's items that the file does not have.")
    ] = LinksOf.MERGE
    assign_external_id: Annotated[
        str | None,
        Field(max_length=90, description="External ids for rows without a key; `{n}` counts.", examples=["REQ-{n}"]),
    ] = None
    atomic: Annotated[
        bool, Field(description="Whether an application at once is all or nothing; else 1,000 rows at a time.")
    ] = True
    suggest: Annotated[bool, Field(description="Whether suggestions are looked for once it is applied.")] = True

    def check(self) -> None:
        """Raise Invalid for what does not go together, UnsupportedMediaType for a format that nobody knows."""
        errors = []
        super().check()
        if self.missing is not Missing.KEEP and (self.scope is None or _SCOPE.fullmatch(self.scope) is None):
            detail = (
                "Name a scope, such as source_system:jira, module:Doors or tag:safety: only its items can be missing."
            )
            errors.append(FieldError("/query/scope", detail, "scope_needed"))
        if self.missing is Missing.DELETE and self.apply is not ApplyWhen.NEVER:
            detail = "Deletions are never made in one step: leave `apply` out, look at the plan, and apply it then."
            errors.append(FieldError("/query/apply", detail, "contradiction"))
        if self.assign_external_id is not None and self.assign_external_id.count("{n}") != 1:
            detail = "Write once where the number is to stand, as in the example of the API's description."
            errors.append(FieldError("/query/assign_external_id", detail, "malformed_template"))
        if errors:
            raise Invalid.fields(errors)

    def stored(self) -> dict[str, Any]:
        """Return the options as the job keeps them."""
        return self.model_dump(mode="json", exclude={"file_name"})


def scope_of(text: str) -> tuple[str, str]:
    """Return the field and the value of a scope that was checked."""
    found = _SCOPE.fullmatch(text)
    assert found is not None, "ImportQuery.check has seen it"
    return found[1], found[2]
