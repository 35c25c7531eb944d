"""What is worked out over requirements with those below: rolled verdicts, rolled coverage, what a change reaches."""
