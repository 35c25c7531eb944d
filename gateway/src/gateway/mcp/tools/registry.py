"""All tools, by their names."""

from collections.abc import Mapping

from gateway.mcp.tools.find import FIND
from gateway.mcp.tools.get import GET
from gateway.mcp.tools.overview import OVERVIEW
from gateway.mcp.tools.tool import Tool

TOOLS: Mapping[str, Tool] = {tool.name: tool for tool in (OVERVIEW, FIND, GET)}
