"""What `python -m chassis.admin rebuild suggestion_service` rebuilds: the copy of catalog's items and links."""

from chassis.core.settings import read
from chassis.messaging.rebuild import Copy
from suggestion_service.handlers import handlers
from suggestion_service.items import merging
from suggestion_service.settings import Settings


def new_copy() -> Copy:
    """Return the copy; raise StartFailure for a wrong setting."""
    return Copy(
        queue="suggestion",
        source="catalog",
        # The handlers delete suggestions and queue items, too: in the real tables that is left to `merge`.
        tables=("items", "linked_pairs", "corpus_head", "scoring_queue", "suggestions"),
        handlers=handlers(score=read(Settings).auto_suggestions_enabled, queued=_nobody_waits),
        prepare=merging.prepare,
        merge=merging.merge,
    )


def _nobody_waits() -> None:
    """The scoring loops are in other processes; they look by themselves."""
