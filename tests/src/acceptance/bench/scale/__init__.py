"""`python -m acceptance.bench.scale`: the stack with a large record, under a mixed load of readers and writers."""
