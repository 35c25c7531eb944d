"""The Model Context Protocol at `/mcp`: what agents read of the record and propose for it, and nothing else."""
