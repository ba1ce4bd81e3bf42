"""What the OpenAI Agents SDK sees of the servers of `mocked`."""
import asyncio
import json

from agents.mcp import MCPServerManager
from mocked import SERVERS


async def main():
    async with MCPServerManager(SERVERS) as manager:
        server, = manager.active_servers
        tools = [tool.name for tool in await server.list_tools()]
        calls = [(await server.call_tool("many", {})).content[0].text for _ in range(3)]
    print(json.dumps({"tools": sorted(tools), "calls": calls}))


asyncio.run(main())
