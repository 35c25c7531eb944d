"""All that proves one requirement, to be filed: its versions, its links with who says so, and its results."""
