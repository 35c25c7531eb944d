"""ReqIF 1.0 to 1.2, and .reqifz: what requirement tools exchange. Read as a stream, written as one."""
