"""What changed, in order, for those who keep a copy of the record."""
