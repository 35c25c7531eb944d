"""What the variables of a CI system say of the run that we are part of.

The branch of a pull request from a fork has the fork's name before it: what ran on the `main` of somebody else is no
result of ours.
"""

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

_MATRIX = re.compile(r"(?P<job>.+): \[(?P<values>.+)\]")


@dataclass(frozen=True, slots=True)
class Pipeline:
    """A run of CI. `run` is the same for all its jobs; `shard` is `2/4`; None: not known.

    `lane`: which of its jobs this is, the same in each run; `environment`: the values of its matrix. `job` and
    `job_try`: the name of the job that no other of the run has and what tells its tries apart, where no `attempt` does.
    """

    run: str | None = None
    branch: str | None = None
    commit: str | None = None
    build_url: str | None = None
    shard: str | None = None
    attempt: int | None = None
    job: str | None = None
    job_try: str | None = None
    name: str | None = None
    lane: str | None = None
    environment: str | None = None
    commit_time: str | None = None


def detect(environment: Mapping[str, str]) -> Pipeline:
    """Return what the variables say; an empty Pipeline outside of CI."""
    for variable, read in _SYSTEMS.items():
        if environment.get(variable):
            return read(environment)
    return Pipeline()


def _github(of: Mapping[str, str]) -> Pipeline:
    server, repository, run = (of.get(name) for name in ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_RUN_ID"))
    matrix = _github_matrix(of)
    machine = (of.get("RUNNER_OS"), of.get("RUNNER_ARCH"))
    return Pipeline(
        run=_key("github", repository, run),
        # Of a pull request the ref is its merge; its branch is the head.
        branch=_head(of.get("GITHUB_HEAD_REF"), _github_source(of), repository) or of.get("GITHUB_REF_NAME"),
        commit=of.get("GITHUB_SHA"),
        build_url=f"{server}/{repository}/actions/runs/{run}" if server and repository and run else None,
        attempt=_number(of.get("GITHUB_RUN_ATTEMPT")),
        # Legs of a matrix have one name; where nobody says its values, they are told apart on other machines at least.
        job=" ".join(filter(None, (of.get("GITHUB_JOB"), *machine, matrix))) or None,
        job_try=of.get("GITHUB_RUN_ATTEMPT"),
        name=of.get("GITHUB_WORKFLOW"),
        lane=_lane(of.get("GITHUB_WORKFLOW"), of.get("GITHUB_JOB")),
        environment=matrix,
    )


def _github_matrix(of: Mapping[str, str]) -> str | None:
    """Return the values of the matrix, which no variable of GitHub says, where the workflow does: `toJSON(matrix)`."""
    with suppress(ValueError):
        matrix = json.loads(of.get("TRACELINE_MATRIX", ""))
        if isinstance(matrix, dict) and matrix:
            return ", ".join(value if isinstance(value, str) else json.dumps(value) for value in matrix.values())
    return None


def _github_source(of: Mapping[str, str]) -> str | None:
    """Return the repository that a pull request comes from, which only the event says."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        return str(json.loads(Path(of["GITHUB_EVENT_PATH"]).read_bytes())["pull_request"]["head"]["repo"]["full_name"])
    return None


def _gitlab(of: Mapping[str, str]) -> Pipeline:
    source, target = (of.get(f"CI_MERGE_REQUEST_{which}PROJECT_PATH") for which in ("SOURCE_", ""))
    head = _head(of.get("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME"), source, target)
    shard = _shard(of.get("CI_NODE_INDEX"), of.get("CI_NODE_TOTAL"), first=1)
    # The jobs of a parallel one are called `pytest 2/4`, and are one run. Those of a matrix, `pytest: [3.11, linux]`,
    # are counted in the same way and are no shards.
    name = of.get("CI_JOB_NAME", "").removesuffix(f" {shard}")
    matrix = _MATRIX.fullmatch(name)
    return Pipeline(
        run=_key("gitlab", of.get("CI_PROJECT_PATH"), of.get("CI_PIPELINE_ID")),
        branch=head or of.get("CI_COMMIT_REF_NAME"),
        commit=of.get("CI_COMMIT_SHA"),
        build_url=of.get("CI_PIPELINE_URL"),
        shard=None if matrix else shard,
        # A job that is repeated has its name, and an id of its own.
        job=of.get("CI_JOB_NAME"),
        job_try=of.get("CI_JOB_ID"),
        name=name or None,
        lane=matrix["job"] if matrix else name or None,
        environment=matrix["values"] if matrix else None,
        commit_time=of.get("CI_COMMIT_TIMESTAMP"),
    )


def _jenkins(of: Mapping[str, str]) -> Pipeline:
    head = _head(of.get("CHANGE_BRANCH"), of.get("CHANGE_FORK"), None)
    branch = head or of.get("BRANCH_NAME") or of.get("GIT_BRANCH")
    job = of.get("JOB_NAME")
    # A job of several branches is called `doors/main` on main, and `doors/fix%2Fdoor`.
    own = f"/{quote(of.get('BRANCH_NAME', ''), safe='')}"
    return Pipeline(
        run=_key("jenkins", of.get("JOB_NAME"), of.get("BUILD_NUMBER")),
        branch=branch.removeprefix("origin/") if branch else None,
        commit=of.get("GIT_COMMIT"),
        build_url=of.get("BUILD_URL"),
        name=job,
        lane=job.removesuffix(own) if job else None,
    )


def _azure(of: Mapping[str, str]) -> Pipeline:
    server, project, build = (of.get(name) for name in ("SYSTEM_COLLECTIONURI", "SYSTEM_TEAMPROJECT", "BUILD_BUILDID"))
    source = of.get("SYSTEM_PULLREQUEST_SOURCEBRANCH") or of.get("BUILD_SOURCEBRANCH")
    if of.get("SYSTEM_PULLREQUEST_ISFORK") == "True":
        source = of.get("BUILD_SOURCEBRANCH")  # refs/pull/7/merge: whose fork it is is not said
    is_matrix = of.get("SYSTEM_PARALLELEXECUTIONTYPE", "").lower() == "multiconfiguration"
    shard = _shard(of.get("SYSTEM_JOBPOSITIONINPHASE"), of.get("SYSTEM_TOTALJOBSINPHASE"), first=1)
    return Pipeline(
        run=_key("azure", project, build),
        branch=source.removeprefix("refs/heads/") if source else None,
        commit=of.get("BUILD_SOURCEVERSION"),
        build_url=f"{server}{project}/_build/results?buildId={build}" if server and project and build else None,
        shard=None if is_matrix else shard,
        attempt=_number(of.get("SYSTEM_JOBATTEMPT")),
        name=of.get("BUILD_DEFINITIONNAME"),
        lane=_lane(of.get("BUILD_DEFINITIONNAME"), of.get("SYSTEM_PHASENAME")),
        environment=of.get("SYSTEM_JOBNAME") if is_matrix else None,
    )


def _circle(of: Mapping[str, str]) -> Pipeline:
    repository = _path(of.get("CIRCLE_PROJECT_USERNAME"), of.get("CIRCLE_PROJECT_REPONAME"))
    return Pipeline(
        run=_key("circleci", repository, of.get("CIRCLE_WORKFLOW_ID")),
        branch=of.get("CIRCLE_BRANCH") or of.get("CIRCLE_TAG"),
        commit=of.get("CIRCLE_SHA1"),
        build_url=of.get("CIRCLE_BUILD_URL"),
        shard=_shard(of.get("CIRCLE_NODE_INDEX"), of.get("CIRCLE_NODE_TOTAL"), first=0),
        name=of.get("CIRCLE_JOB"),
        lane=_lane(of.get("CIRCLE_JOB")),
    )


def _buildkite(of: Mapping[str, str]) -> Pipeline:
    retried = _number(of.get("BUILDKITE_RETRY_COUNT"))
    pipeline = _path(of.get("BUILDKITE_ORGANIZATION_SLUG"), of.get("BUILDKITE_PIPELINE_SLUG"))
    return Pipeline(
        run=_key("buildkite", pipeline, of.get("BUILDKITE_BUILD_NUMBER")),
        branch=of.get("BUILDKITE_BRANCH"),
        commit=of.get("BUILDKITE_COMMIT"),
        build_url=of.get("BUILDKITE_BUILD_URL"),
        shard=_shard(of.get("BUILDKITE_PARALLEL_JOB"), of.get("BUILDKITE_PARALLEL_JOB_COUNT"), first=0),
        attempt=None if retried is None else retried + 1,
        name=of.get("BUILDKITE_LABEL"),
        lane=_lane(of.get("BUILDKITE_PIPELINE_SLUG"), of.get("BUILDKITE_STEP_KEY") or of.get("BUILDKITE_LABEL")),
    )


def _bitbucket(of: Mapping[str, str]) -> Pipeline:
    # No shard: the steps of a parallel group may be of different kinds, of which some send nothing. No lane: a step is
    # named by no variable.
    repository, build = of.get("BITBUCKET_REPO_FULL_NAME"), of.get("BITBUCKET_BUILD_NUMBER")
    return Pipeline(
        run=_key("bitbucket", repository, build),
        branch=of.get("BITBUCKET_BRANCH") or of.get("BITBUCKET_TAG"),
        commit=of.get("BITBUCKET_COMMIT"),
        build_url=f"https://bitbucket.org/{repository}/pipelines/results/{build}" if repository and build else None,
    )


def _teamcity(of: Mapping[str, str]) -> Pipeline:
    configuration = _path(of.get("TEAMCITY_PROJECT_NAME"), of.get("TEAMCITY_BUILDCONF_NAME"))
    return Pipeline(
        run=_key("teamcity", configuration, of.get("BUILD_NUMBER")),
        commit=of.get("BUILD_VCS_NUMBER"),
        build_url=of.get("BUILD_URL"),
        name=of.get("TEAMCITY_BUILDCONF_NAME"),
        lane=_lane(of.get("TEAMCITY_BUILDCONF_NAME")),
    )


def _travis(of: Mapping[str, str]) -> Pipeline:
    head = _head(of.get("TRAVIS_PULL_REQUEST_BRANCH"), of.get("TRAVIS_PULL_REQUEST_SLUG"), of.get("TRAVIS_REPO_SLUG"))
    return Pipeline(
        run=_key("travis", of.get("TRAVIS_REPO_SLUG"), of.get("TRAVIS_BUILD_ID")),
        # Of a pull request the branch is the one that it goes to, and the commit its merge.
        branch=head or of.get("TRAVIS_BRANCH"),
        commit=of.get("TRAVIS_PULL_REQUEST_SHA") or of.get("TRAVIS_COMMIT"),
        build_url=of.get("TRAVIS_BUILD_WEB_URL"),
        name=of.get("TRAVIS_JOB_NAME"),
        lane=_lane(of.get("TRAVIS_JOB_NAME") or of.get("TRAVIS_BUILD_STAGE_NAME")),
    )


_SYSTEMS = {
    "GITHUB_ACTIONS": _github,
    "GITLAB_CI": _gitlab,
    "JENKINS_URL": _jenkins,
    "JENKINS_HOME": _jenkins,  # where its settings have no address, it tells none
    "TF_BUILD": _azure,
    "CIRCLECI": _circle,
    "BUILDKITE": _buildkite,
    "BITBUCKET_BUILD_NUMBER": _bitbucket,
    "TEAMCITY_VERSION": _teamcity,
    "TRAVIS": _travis,
}
"""By the variable that only this system sets."""


def _head(branch: str | None, source: str | None, target: str | None) -> str | None:
    """Return the branch of a pull request, after the repository that it comes from if that is another."""
    return f"{source}:{branch}" if branch and source and source != target else branch


def _key(system: str, *parts: str | None) -> str | None:
    """Return the key of a run; None where a part is not set: without it, all runs would be one."""
    return ":".join((system, *filter(None, parts))) if all(parts) else None


def _lane(*parts: str | None) -> str | None:
    """Return the lane of what is set of a pipeline and its job."""
    return "/".join(filter(None, parts)) or None


def _path(*parts: str | None) -> str | None:
    return "/".join(filter(None, parts)) if all(parts) else None


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdecimal() else None


def _shard(index: str | None, total: str | None, *, first: int) -> str | None:
    """Return `2/4` of the index of a job, which counts from `first`; None where there is one job alone."""
    number, count = _number(index), _number(total)
    if number is None or count is None or count < 2 or not first <= number < first + count:
        return None
    return f"{number - first + 1}/{count}"
