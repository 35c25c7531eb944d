"""`python -m benchmarks.engine`: how fast suggestions are scored, beside what people use today."""
