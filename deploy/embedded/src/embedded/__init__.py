"""All of Traceline in one process on one machine, with nothing to install by hand."""
