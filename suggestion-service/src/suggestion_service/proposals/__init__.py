"""What agents propose, with their reasons: it changes nothing of the record until a person accepts it."""
