"""Our own format: the record as JSON, a line a record or one object, complete and in the order of the API's answers."""
