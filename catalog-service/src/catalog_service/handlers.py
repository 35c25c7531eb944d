"""The table of events: what each one does to the copy of what is pending."""

from collections.abc import Mapping

from catalog_service.pending import service
from chassis.messaging.events import Payload
from chassis.messaging.inbox import Handler
from contracts import suggestion

HANDLERS: Mapping[type[Payload], Handler] = {
    suggestion.PendingPairsChanged: service.change,
    suggestion.SuggestionReviewed: service.review,
    suggestion.SuggestionsBulkReviewed: service.review_many,
}
