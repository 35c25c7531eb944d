"""The stream of events, as a page follows it."""

from acceptance.client import Traceline, ok
from acceptance.following import Follower
from acceptance.waiting import eventually


def test_whoever_follows_is_told_of_what_others_do_and_of_their_own_news(admin: Traceline, viewer: Traceline) -> None:
    author = admin.new_user("reviewer")
    with Follower(viewer) as page, Follower(author) as own:
        suggestion = author.suggested_pair()
        requirement = suggestion["requirement_id"]
        eventually(
            lambda: any(requirement in one.data["ids"] for one in page.of("item.changed", change="created")),
            "the new requirement",
        )
        ok(author.post(f"/suggestions/{suggestion['id']}/accept"))
        (reviewed,) = eventually(
            lambda: page.of("suggestion.reviewed", suggestion_ids=[suggestion["id"]]), "the review"
        )
        assert (reviewed.data["status"], reviewed.data["by"]) == ("accepted", author.me()["email"])
        eventually(lambda: page.of("item.changed", resource_type="link", change="created"), "the link")
        eventually(lambda: page.of("coverage"), "the figures of coverage")
        run = author.generate()
        eventually(lambda: page.of("run.progress", run_id=run["id"], status="completed", progress=1), "the run")

        eventually(lambda: own.told[-1].data == {"unread_count": author.unread_count()}, "the author's own count")
        assert {one.data["unread_count"] for one in page.of("unread")} == {viewer.unread_count()}
    assert page.answers == [200]


def test_a_stream_that_breaks_goes_on_where_it_was(reviewer: Traceline, viewer: Traceline) -> None:
    made = []
    with Follower(viewer) as page:
        for _ in range(10):
            made.append(reviewer.create_requirement()["id"])
            page.cut()
        eventually(lambda: {id_ for one in page.of("item.changed") for id_ in one.data["ids"]} >= set(made), "all")
    told = [id_ for one in page.of("item.changed", change="created") for id_ in one.data["ids"]]
    assert [id_ for id_ in told if id_ in made] == made


def test_a_stream_ends_with_the_log_out_and_nobody_comes_back_with_that_token(admin: Traceline) -> None:
    leaving = admin.new_user("viewer")
    with Follower(leaving) as page:
        assert leaving.post("/auth/logout").status_code == 204
        eventually(lambda: page.answers[-1], "the end of the stream", equals=401)
