"""`python -m benchmarks.scale`: the stack with a large record, under a mixed load of readers and writers."""
