"""PostgreSQL: connections, schema and readiness, who leads among replicas, reads that share a query."""
