"""HTTP: generate suggestions over everything, and look after the runs."""

from dataclasses import asdict
from typing import Annotated
from uuid import UUID

import orjson
from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import Field

from chassis.db.database import Connection, Db
from chassis.web.callers import Reviewer, Viewer
from chassis.web.conditions import Conditions
from chassis.web.idempotency import answer_once
from chassis.web.listing import Ids, Page, PageQuery, documented, page, read_query
from chassis.web.parameters import UPDATED_SINCE, parse_moment, parse_own_ids
from chassis.web.peers import Peer
from chassis.web.problem_documents import problem_responses
from chassis.web.responses import answer, item, wants_no_wait
from chassis.web.strict_route import StrictRoute
from suggestion_service.scale import Scales
from suggestion_service.scoring import looking, run_service
from suggestion_service.scoring.schemas import AlgorithmName, Progress, Run
from suggestion_service.store.runs import NEWEST_FIRST

router = APIRouter(prefix="/api/v1/suggestions", route_class=StrictRoute, tags=["Generation"])


class RunsQuery(PageQuery):
    """What narrows the list of runs."""

    updated_since: Annotated[
        str | None,
        Field(
            description=f"{UPDATED_SINCE} A run that goes on changes all the time.", examples=["2026-01-31T12:00:00Z"]
        ),
    ] = None
    ids: Ids = None

    def conditions(self) -> Conditions:
        """Return what the runs must fulfil; raises Invalid."""
        conditions = Conditions()
        conditions.choose("r.id", parse_own_ids(self.ids))
        since = parse_moment("updated_since", self.updated_since)
        if since is not None:
            conditions.add("coalesce(r.finished_at, 'infinity') >= %(since)s", since=since)
        return conditions


_WAIT = 20
"""Seconds that a caller waits for the end of a run."""


async def _scales(request: Request) -> Scales:
    scales: Scales = request.app.state.scales
    return scales


async def _catalog(request: Request) -> Peer:
    catalog: Peer = request.app.state.catalog
    return catalog


@router.post(
    "/generate",
    response_model=Run,
    responses={202: {"model": Run, "description": "The run goes on"}, **problem_responses("409 run_queued")},
    summary="Generate suggestions for all pairs",
)
async def generate_suggestions(
    request: Request,
    reviewer: Reviewer,
    database: Db,
    scales: Annotated[Scales, Depends(_scales)],
    algorithm: Annotated[AlgorithmName | None, Query(description="Default: that of the project.")] = None,
    threshold: Annotated[
        float | None, Query(ge=0, le=1, allow_inf_nan=False, description="Default: that of the project.")
    ] = None,
    rescore: Annotated[
        bool, Query(description="Whether pending suggestions are scored anew; `false` leaves them alone.")
    ] = True,
) -> Response:
    """Score every requirement against every test case and suggest the pairs at or above the threshold.

    Pending suggestions are scored anew by the same algorithm, and those below the threshold are withdrawn, so that
    one queue has one scale; what comes or changes later is scored by this algorithm, too, until another run, or a
    change of the algorithm that the project is set to. A project's runs are done one after another, in the order in
    which they were asked for; each user has at most one that waits.

    Answers with the finished run, or after 20 s, or at once with `Prefer: respond-async`, 202 and its Location.
    """

    async def queue(connection: Connection) -> Response:
        wishes = await scales.wishes(connection)
        chosen = wishes.algorithm if algorithm is None else algorithm.value
        # Without the sign that -0 has.
        lowest = wishes.threshold if threshold is None else abs(threshold)
        asked = run_service.new_request(chosen, lowest, reviewer, rescore=rescore)
        await run_service.queue(connection, asked, wishes.algorithm)
        return answer({"id": asked.id}, 202)

    queued = await answer_once(request, database, reviewer, queue)
    # That of an earlier request of the same key, perhaps.
    run_id = UUID(orjson.loads(queued.body)["id"])
    if not wants_no_wait(request):
        finished = await run_service.ended(database, run_id, _WAIT)
        if finished is not None:
            return item(request, finished)
    location = {"Location": f"/api/v1/suggestions/runs/{run_id}"}
    return item(request, await run_service.get(database, run_id), 202, location)


@router.get(
    "/runs", response_model=Page[Run], summary="List the runs, newest first", openapi_extra=documented(RunsQuery)
)
async def list_generation_runs(request: Request, _: Viewer, database: Db) -> Response:
    """Return one page of the runs."""
    query = read_query(request, RunsQuery)
    wanted = query.page(request, NEWEST_FIRST)
    return page(request, wanted, await run_service.page(database, query.conditions(), wanted))


@router.get("/progress", response_model=Progress, summary="Read how far the search for links is")
async def read_progress(
    _: Viewer, database: Db, catalog: Annotated[Peer, Depends(_catalog)], scales: Annotated[Scales, Depends(_scales)]
) -> Response:
    """Made to be polled: after an import, or a change, the queue is whole once this `is_complete`."""
    return answer(asdict(await looking.progress(database, catalog, scales)))


@router.get(
    "/runs/{run_id}", response_model=Run, responses=problem_responses("404 run_not_found"), summary="Read a run"
)
async def read_generation_run(request: Request, run_id: UUID, _: Viewer, database: Db) -> Response:
    """Return the run with its progress."""
    return item(request, await run_service.get(database, run_id))


@router.post(
    "/runs/{run_id}/cancel",
    response_model=Run,
    responses=problem_responses("404 run_not_found", "409 run_ended"),
    summary="Cancel a run that has not ended",
)
async def cancel_generation_run(request: Request, run_id: UUID, reviewer: Reviewer, database: Db) -> Response:
    """End the run; what it has suggested and withdrawn so far stays.

    Soon after, the background gives what it has scored anew the score of before, since one queue has one scale.
    """
    return item(request, await run_service.cancel(database, run_id, reviewer))
