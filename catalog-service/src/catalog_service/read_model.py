"""What `python -m chassis.admin rebuild catalog_service` rebuilds: the copy of which pairs are pending."""

from catalog_service.handlers import PENDING
from catalog_service.pending.repository import merge
from chassis.messaging.rebuild import ReadModel


def new_read_model() -> ReadModel:
    """Return the copy."""
    return ReadModel(
        queue="catalog",
        source="suggestion",
        tables=("pending_pairs", "pending_pairs_state"),
        handlers=PENDING,
        merge=merge,
    )
