"""All tools, by their names."""

from collections.abc import Mapping

from gateway.mcp.tools.candidates import CANDIDATES
from gateway.mcp.tools.check_gate import CHECK_GATE
from gateway.mcp.tools.find import FIND
from gateway.mcp.tools.gaps import GAPS
from gateway.mcp.tools.get import GET
from gateway.mcp.tools.overview import OVERVIEW
from gateway.mcp.tools.proposing import MY_PROPOSALS, PROPOSE, WITHDRAW
from gateway.mcp.tools.tool import Tool
from gateway.mcp.tools.trace import TRACE
from gateway.mcp.tools.why_suspect import WHY_SUSPECT

TOOLS: Mapping[str, Tool] = {
    tool.name: tool
    for tool in (
        *(OVERVIEW, FIND, GET, TRACE, GAPS, WHY_SUSPECT, CANDIDATES, CHECK_GATE),
        *(PROPOSE, MY_PROPOSALS, WITHDRAW),
    )
}
