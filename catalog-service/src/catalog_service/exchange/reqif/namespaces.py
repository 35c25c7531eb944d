"""The namespaces of ReqIF files."""

REQIF = "http://www.omg.org/spec/ReqIF/20110401/reqif.xsd"
XHTML = "http://www.w3.org/1999/xhtml"
XML = "http://www.w3.org/XML/1998/namespace"
TRACELINE = "urn:traceline:reqif:1"
"""Of our tool extension: values that XML 1.0 cannot hold."""

Q = f"{{{REQIF}}}"
"""What the parser puts before the name of an element of ReqIF."""
