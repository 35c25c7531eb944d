"""Scores: similarity corrected for hubs (CSLS), calibrated to a probability, and what the metadata say."""
