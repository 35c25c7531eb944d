"""`python -m acceptance.bench.engine`: how fast suggestions are scored, beside what people use today."""
