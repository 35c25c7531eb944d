"""Properties of results that name test cases and requirements: auth-service keeps a project's, catalog reads by them.

A property is whatever a report says of a result by a name: a property, an attribute, a label, an annotation, or a tag
`NAME:VALUE`. Capitals make no difference in a name.
"""

from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator
from pydantic_core import PydanticCustomError

TEST_CASES: Final = (
    *("test_case", "test_key", "test_id", "testcase", "traceline", "testid", "test-case", "case_id"),
    *("qase_id", "testrail_case_id", "testrail_case_field", "xray", "allure_id", "jira"),
)
"""What names test cases unless the project says otherwise."""

REQUIREMENTS: Final = ("requirement", "requirements", "verifies", "req", "jira")
"""What names requirements unless the project says otherwise; what is in both is what the record knows it as."""

_MOST_NAMES = 50
_Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100)]
_Names = Annotated[list[_Name], Field(max_length=_MOST_NAMES)]


class ResultProperties(BaseModel):
    """Which properties of results name test cases, and which requirements; null: as the installation says."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"test_cases": ["test_case", "jira"], "requirements": ["story"]}]},
    )

    test_cases: Annotated[
        _Names | None,
        Field(description=f"Null: {', '.join(f'`{name}`' for name in TEST_CASES)}. None at all: an empty list."),
    ] = None
    requirements: Annotated[
        _Names | None,
        Field(
            description=f"Null: {', '.join(f'`{name}`' for name in REQUIREMENTS)}. A name in both lists is that of a"
            " test case or of a requirement, as the record has one.",
        ),
    ] = None

    @field_validator("test_cases", "requirements")
    @classmethod
    def _check_names(cls, names: list[str] | None) -> list[str] | None:
        seen: set[str] = set()
        for name in names or ():
            if not name.isprintable() or any(letter in name for letter in ":=,;"):
                detail = "has a character that no name of a property has here: none of : = , ; nor a line break"
                raise PydanticCustomError("invalid_name", "{name} {detail}", {"name": name, "detail": detail})
            if name.lower() in seen:
                detail = "stands here twice, capitals aside; name it once"
                raise PydanticCustomError("repeated", "{name} {detail}", {"name": name, "detail": detail})
            seen.add(name.lower())
        return names
