"""Files that strangers send, read within limits: XML as events, zip and tar archives as streams."""
