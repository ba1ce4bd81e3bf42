"""Lists the tools and calls each with the Python SDK `mcp` 1.x: what went wrong, by tool."""
import asyncio
import json
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main(command):
    wrong = {}
    async with stdio_client(StdioServerParameters(command=command[0], args=command[1:])) as (read, write):
        async with ClientSession(read, write) as session:
            await session.initialize()
            try:
                tools = [tool.name for tool in (await session.list_tools()).tools]
            except Exception as error:
                tools, wrong["tools/list"] = [], str(error)
            for tool in tools:
                try:
                    await session.call_tool(tool, {})
                except Exception as error:
                    wrong[tool] = str(error)
    print(json.dumps({"tools": len(tools), "wrong": wrong}))


asyncio.run(main(sys.argv[2:]))
