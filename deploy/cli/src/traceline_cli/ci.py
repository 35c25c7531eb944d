"""What the variables of a CI system say of the run that we are part of."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pipeline:
    """A run of CI. `run` is the same for all its jobs; `shard` is `2/4`; None: not known."""

    run: str | None = None
    branch: str | None = None
    commit: str | None = None
    build_url: str | None = None
    shard: str | None = None
    attempt: int | None = None
    name: str | None = None


def detect(environment: Mapping[str, str]) -> Pipeline:
    """Return what the variables say; an empty Pipeline outside of CI."""
    for variable, read in _SYSTEMS.items():
        if environment.get(variable):
            return read(environment)
    return Pipeline()


def _github(of: Mapping[str, str]) -> Pipeline:
    server, repository, run = (of.get(name, "") for name in ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_RUN_ID"))
    return Pipeline(
        run=f"github:{repository}:{run}",
        # Of a pull request the ref is its merge; its branch is the head.
        branch=of.get("GITHUB_HEAD_REF") or of.get("GITHUB_REF_NAME"),
        commit=of.get("GITHUB_SHA"),
        build_url=f"{server}/{repository}/actions/runs/{run}" if server else None,
        attempt=_number(of.get("GITHUB_RUN_ATTEMPT")),
        name=of.get("GITHUB_WORKFLOW"),
    )


def _gitlab(of: Mapping[str, str]) -> Pipeline:
    return Pipeline(
        run=f"gitlab:{of.get('CI_PROJECT_PATH', '')}:{of.get('CI_PIPELINE_ID', '')}",
        branch=of.get("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME") or of.get("CI_COMMIT_REF_NAME"),
        commit=of.get("CI_COMMIT_SHA"),
        build_url=of.get("CI_PIPELINE_URL"),
        shard=_shard(of.get("CI_NODE_INDEX"), of.get("CI_NODE_TOTAL"), first=1),
        name=of.get("CI_JOB_NAME"),
    )


def _jenkins(of: Mapping[str, str]) -> Pipeline:
    branch = of.get("CHANGE_BRANCH") or of.get("BRANCH_NAME") or of.get("GIT_BRANCH")
    return Pipeline(
        run=f"jenkins:{of.get('JOB_NAME', '')}:{of.get('BUILD_NUMBER', '')}",
        branch=branch.removeprefix("origin/") if branch else None,
        commit=of.get("GIT_COMMIT"),
        build_url=of.get("BUILD_URL"),
        name=of.get("JOB_NAME"),
    )


def _azure(of: Mapping[str, str]) -> Pipeline:
    server, project, build = (
        of.get(name, "") for name in ("SYSTEM_COLLECTIONURI", "SYSTEM_TEAMPROJECT", "BUILD_BUILDID")
    )
    source = of.get("SYSTEM_PULLREQUEST_SOURCEBRANCH") or of.get("BUILD_SOURCEBRANCH")
    return Pipeline(
        run=f"azure:{project}:{build}",
        branch=source.removeprefix("refs/heads/") if source else None,
        commit=of.get("BUILD_SOURCEVERSION"),
        build_url=f"{server}{project}/_build/results?buildId={build}" if server else None,
        shard=_shard(of.get("SYSTEM_JOBPOSITIONINPHASE"), of.get("SYSTEM_TOTALJOBSINPHASE"), first=1),
        attempt=_number(of.get("SYSTEM_JOBATTEMPT")),
        name=of.get("BUILD_DEFINITIONNAME"),
    )


def _circle(of: Mapping[str, str]) -> Pipeline:
    repository = f"{of.get('CIRCLE_PROJECT_USERNAME', '')}/{of.get('CIRCLE_PROJECT_REPONAME', '')}"
    return Pipeline(
        run=f"circleci:{repository}:{of.get('CIRCLE_WORKFLOW_ID', '')}",
        branch=of.get("CIRCLE_BRANCH"),
        commit=of.get("CIRCLE_SHA1"),
        build_url=of.get("CIRCLE_BUILD_URL"),
        shard=_shard(of.get("CIRCLE_NODE_INDEX"), of.get("CIRCLE_NODE_TOTAL"), first=0),
        name=of.get("CIRCLE_JOB"),
    )


def _buildkite(of: Mapping[str, str]) -> Pipeline:
    retried = _number(of.get("BUILDKITE_RETRY_COUNT"))
    pipeline = f"{of.get('BUILDKITE_ORGANIZATION_SLUG', '')}/{of.get('BUILDKITE_PIPELINE_SLUG', '')}"
    return Pipeline(
        run=f"buildkite:{pipeline}:{of.get('BUILDKITE_BUILD_NUMBER', '')}",
        branch=of.get("BUILDKITE_BRANCH"),
        commit=of.get("BUILDKITE_COMMIT"),
        build_url=of.get("BUILDKITE_BUILD_URL"),
        shard=_shard(of.get("BUILDKITE_PARALLEL_JOB"), of.get("BUILDKITE_PARALLEL_JOB_COUNT"), first=0),
        attempt=None if retried is None else retried + 1,
        name=of.get("BUILDKITE_LABEL"),
    )


_SYSTEMS = {
    "GITHUB_ACTIONS": _github,
    "GITLAB_CI": _gitlab,
    "JENKINS_URL": _jenkins,
    "TF_BUILD": _azure,
    "CIRCLECI": _circle,
    "BUILDKITE": _buildkite,
}
"""By the variable that only this system sets."""


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdecimal() else None


def _shard(index: str | None, total: str | None, *, first: int) -> str | None:
    """Return `2/4` of the index of a job, which counts from `first`; None where there is one job alone."""
    number, count = _number(index), _number(total)
    if number is None or count is None or count < 2:
        return None
    return f"{number - first + 1}/{count}"
