"""Applying an import: what its rows say becomes the record, by SQL, each change with its event."""

from catalog_service.exchange.applying.job import Applied, Cancelled, Job, RecordChanged
from catalog_service.exchange.applying.service import apply, end_early

__all__ = ["Applied", "Cancelled", "Job", "RecordChanged", "apply", "end_early"]
