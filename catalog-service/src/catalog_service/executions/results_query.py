"""What a file of results is sent with, beside its bytes: its run, and how it is taken."""

import re
from datetime import UTC, datetime, timedelta
from typing import Annotated

from pydantic import BaseModel, Field, StringConstraints

from catalog_service.executions.lanes import MANUAL
from catalog_service.executions.readers.registry import FORMATS, find
from catalog_service.executions.run_schemas import BuildUrl, Duplicates, ShortText, Undefined, Unknown
from catalog_service.executions.runs import MOST_ATTEMPTS, RunSpec
from catalog_service.executions.upload import Limits, Options
from catalog_service.settings import Settings
from chassis.core.problems import Invalid
from chassis.core.wording import counted, shown
from chassis.web.parameters import (
    parse_moment,
)

_SHARD = re.compile(r"([1-9]\d{0,3})/([1-9]\d{0,3})", re.ASCII)
_EARLY = timedelta(days=1)
"""So far clocks of others may go before ours."""


class ResultsQuery(BaseModel):
    """How a file of results is taken, and which run it is of."""

    run: Annotated[
        Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)] | None,
        Field(
            description="The key of the run, such as github:owner/name:7741: all files of a pipeline send the same."
            " Without it, the file is a run of its own.",
        ),
    ] = None
    name: Annotated[ShortText, Field(description="What people call the run.")] = None
    branch: Annotated[ShortText, Field(description="Default: the branch that verdicts are of.")] = None
    commit: Annotated[ShortText, Field(description="The commit that was tested.")] = None
    environment: Annotated[ShortText, Field(description="What it ran on; each has results of its own.")] = None
    build_url: Annotated[BuildUrl, Field(description="Where its log can be read: a page, by https or http.")] = None
    started_at: Annotated[
        str | None,
        Field(
            description="When the run began, by default when its first file came, which is the latest that counts: a"
            " clock that goes ahead by up to a day is set right."
        ),
    ] = None
    lane: Annotated[
        Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)] | None,
        Field(
            description="The line of runs that this is of, such as its workflow and job: a test that the last whole run"
            " of its lane did not have is missing. Default: the format of the file. `manual` is that of what people"
            " execute.",
            examples=["ci/unit"],
        ),
    ] = None
    partial: Annotated[
        bool,
        Field(
            description="The run has a selection of the tests, such as those that a change touches: those that it does"
            " not have are not missing. So has a file without `run`, `lane` and `commit`."
        ),
    ] = False
    commit_time: Annotated[
        str | None,
        Field(
            description="When the commit was made: it tells older commits from newer ones where no run says when it"
            " began. Where some say one and some the other and it is in doubt which commit is newer, the worse counts."
        ),
    ] = None
    shard: Annotated[
        str | None,
        Field(description="Which part of the run this is, `2/4`: it is complete when all are there.", examples=["2/4"]),
    ] = None
    attempt: Annotated[
        Annotated[int, Field(ge=1, le=MOST_ATTEMPTS)] | None,
        Field(
            description="Which attempt of its job this is, from 1: the last that ran a test, or of a test with"
            " parameters each of its iterations, gives its result. Default: by `job` and `job_try`, else 1."
        ),
    ] = None
    job: Annotated[
        Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)] | None,
        Field(
            description="The job of CI that sends this, by a name that no other job of the run has, for a CI that does"
            " not count the tries of a job.",
            examples=["pytest 2/4"],
        ),
    ] = None
    job_try: Annotated[
        ShortText,
        Field(
            description="What tells the tries of `job` apart, such as the id of each: a new one in the same run and"
            " lane is the next attempt.",
            examples=["8731"],
        ),
    ] = None
    format: Annotated[
        str,
        Field(
            description="The format of the file; by default what the file looks like.",
            json_schema_extra={"enum": ["auto", *(known.name for known in FORMATS)]},
        ),
    ] = "auto"
    unknown: Annotated[
        Unknown,
        Field(
            description="Tests without a test case: `keep` stores them, `create` makes test cases and links them to the"
            " requirements that their results name, `ignore` leaves them out, `fail` refuses the file."
        ),
    ] = Unknown.KEEP
    duplicates: Annotated[
        Duplicates,
        Field(
            description="A test several times in a file: iterations, of which the worst counts, or attempts, of which"
            " the `last` does."
        ),
    ] = Duplicates.WORST
    undefined: Annotated[
        Undefined, Field(description="Steps of Cucumber that nobody has written, and pending ones.")
    ] = Undefined.FAIL
    link: Annotated[
        bool, Field(description="Link the test cases to the requirements that results name (`verifies`).")
    ] = False
    allow_empty: Annotated[
        bool, Field(description="A file without a result is meant so; otherwise its run is incomplete.")
    ] = False
    workspace: Annotated[
        str | None,
        Field(
            max_length=1000,
            description="The folder that absolute paths of tests are told from, such as that of the checkout, so that"
            " another machine has the same tests. Default: what the paths look like.",
            examples=["/home/runner/work/doors/doors"],
        ),
    ] = None
    dry_run: Annotated[bool, Field(description="Tell what it would do, and store nothing.")] = False
    file_name: Annotated[str | None, Field(max_length=255, description="Instead of the name in the form.")] = None

    def check(self) -> None:
        """Raise UnsupportedMediaType for a format that nobody knows, Invalid for a lane of people or half of a try."""
        if self.lane == MANUAL:
            detail = "The lane manual is that of what people execute; call the lane of these files otherwise."
            raise Invalid.field("/query/lane", detail, "reserved")
        for name, value, other in (("job", self.job, self.job_try), ("job_try", self.job_try, self.job)):
            if value is None and other is not None:
                raise Invalid.field(f"/query/{name}", "job and job_try belong together; send both.", "missing")
        if self.format != "auto":
            find(self.format)

    def options(self) -> Options:
        """Return how the file is taken; raise Invalid."""
        shard, shards = _shard(self.shard)
        return Options(
            self.format,
            self.file_name,
            shard,
            shards,
            self.attempt,
            self.job,
            self.job_try,
            self.unknown.value,
            self.duplicates.value,
            self.undefined is Undefined.FAIL,
            self.link,
            allow_empty=self.allow_empty,
            workspace=self.workspace or "",
        )

    def spec(self, settings: Settings, now: datetime) -> RunSpec:
        """Return the run that the file is of; raise Invalid."""
        return RunSpec(
            self.run,
            self.branch or settings.results_default_branch,
            self.name,
            self.commit,
            self.environment,
            self.build_url,
            moment_of_run("/query/started_at", parse_moment("started_at", self.started_at), settings, now),
            _shard(self.shard)[1],
            self.lane,
            self.partial,
            moment_of_commit("/query/commit_time", parse_moment("commit_time", self.commit_time), now),
        )


def moment_of_run(pointer: str, moment: datetime | None, settings: Settings, now: datetime) -> datetime | None:
    """Return when a run began, as somebody says it; raise Invalid for what is to come or is not kept any more.

    What a clock that goes ahead says begins now: until that time came, it would hide all results that come after it.
    """
    if moment is None:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    if moment > now + _EARLY:
        raise Invalid.field(pointer, "A run cannot begin in the future; look at the clock of the machine.", "too_late")
    if moment < now - timedelta(days=settings.results_retention_days):
        detail = f"Results are kept for {counted(settings.results_retention_days, 'day')}; this run is older."
        raise Invalid.field(pointer, detail, "too_early")
    return min(moment, now)


def moment_of_commit(pointer: str, moment: datetime | None, now: datetime) -> datetime | None:
    """Return when a commit was made, as somebody says it; raise Invalid for what is to come."""
    if moment is None:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    if moment > now + _EARLY:
        raise Invalid.field(pointer, "A commit of the future cannot be tested; look at the clock.", "too_late")
    return moment


def _shard(text: str | None) -> tuple[int | None, int | None]:
    if text is None:
        return None, None
    found = _SHARD.fullmatch(text)
    if found is None or int(found[1]) > int(found[2]):
        detail = f"{shown(text)} is no part of a whole; write which of how many, such as 2/4."
        raise Invalid.field("/query/shard", detail, "malformed_shard")
    return int(found[1]), int(found[2])


def limits_of(settings: Settings) -> Limits:
    """Return what reading a file may take."""
    return Limits(settings.import_memory_mib * 1024**2, settings.import_cpu_seconds, settings.results_max_per_file)
