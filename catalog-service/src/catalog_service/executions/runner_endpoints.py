"""HTTP: how tests name their test cases."""

from dataclasses import fields
from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, Field

from catalog_service.executions.runners.examples import Example, examples
from chassis.web.callers import Viewer
from chassis.web.strict_route import StrictRoute

router = APIRouter(prefix="/api/v1/automated-tests", route_class=StrictRoute, tags=["Results"])


class RunnerExample(BaseModel):
    """How a test of a runner names its test case, which is called TC-1 here."""

    name: Annotated[str, Field(examples=["pytest"])]
    label: Annotated[str, Field(description="What people call the runner.")]
    by: Annotated[str, Field(description="What names the test case: property, tag or name.")]
    place: Annotated[str, Field(description="Where the lines stand.")]
    syntax: Annotated[str, Field(description="The language of the lines, for colours.")]
    lines: Annotated[str, Field(description="What a person pastes.")]
    setup: Annotated[str, Field(description="What is done once before; empty where nothing is.")]
    run: Annotated[str, Field(description="The command that runs the tests and writes their report.")]
    send: Annotated[str, Field(description="The files that the command line sends.")]
    also: Annotated[str, Field(description="What else to know; mostly empty.")]
    known_by: Annotated[str, Field(description="A regular expression that finds the runner in its report.")]


class RunnerExamples(BaseModel):
    """An example a runner, by their labels."""

    runners: list[RunnerExample]


_SHOWN = tuple(field.name for field in fields(Example) if field.name in RunnerExample.model_fields)


@router.get("/runners", response_model=RunnerExamples, summary="How tests name their test cases, a runner each")
async def list_runners(_: Viewer) -> RunnerExamples:
    """Return the lines by which a test names its test case, with the command that runs it and what to send."""
    return RunnerExamples(
        runners=[
            RunnerExample(**{name: getattr(example, name) for name in _SHOWN})  # without the report of each
            for example in examples()
        ]
    )
