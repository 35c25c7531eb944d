"""The copy of which pairs wait for a review in suggestion-service, so that lists and reports can tell by themselves."""
