"""Learning from reviews: what was accepted and rejected re-ranks what is pending, where that is seen to help."""
