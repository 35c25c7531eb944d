"""API tokens: made, listed, revoked, and when each was last used."""
