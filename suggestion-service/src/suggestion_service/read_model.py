"""What `python -m chassis.admin rebuild suggestion_service` rebuilds: the copy of catalog's items and links."""

from chassis.core.settings import read
from chassis.messaging.rebuild import ReadModel
from suggestion_service.handlers import copying
from suggestion_service.items.merging import merge
from suggestion_service.scale import Scales
from suggestion_service.settings import Settings


def new_read_model() -> ReadModel:
    """Return the copy; raise StartFailure for a wrong setting."""
    return ReadModel(
        queue="suggestion",
        source="catalog",
        # The handlers delete suggestions and queue items, too: in the real tables that is left to `merge`.
        tables=("items", "linked_pairs", "corpus_head", "scoring_queue", "suggestions"),
        handlers=copying(scales=Scales.of(read(Settings)), queued=_no_wakeup, together=False),
        merge=merge,
    )


def _no_wakeup() -> None:
    """The scoring loops are in other processes; they look by themselves."""
