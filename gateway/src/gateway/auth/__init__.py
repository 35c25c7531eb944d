"""Who calls: access tokens, and which of them do not work any more."""
