from assembler.regions.tools.deferred import Defer as Defer
from assembler.regions.tools.deferred import ToolSearch as ToolSearch
from assembler.regions.tools.intake import read_tool as read_tool
from assembler.regions.tools.intake import read_tools as read_tools
from assembler.regions.tools.tool import Tool as Tool
