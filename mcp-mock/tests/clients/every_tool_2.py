"""Lists the tools and calls each with the Python SDK `mcp` 2.x: what went wrong, by tool."""
import asyncio
import json
import sys

from mcp import Client, StdioServerParameters


async def main(mode, command):
    wrong = {}
    async with Client(StdioServerParameters(command=command[0], args=command[1:]), mode=mode) as client:
        try:
            tools = [tool.name for tool in (await client.list_tools()).tools]
        except Exception as error:
            tools, wrong["tools/list"] = [], str(error)
        for tool in tools:
            try:
                await client.call_tool(tool, {})
            except Exception as error:
                wrong[tool] = str(error)
    print(json.dumps({"tools": len(tools), "wrong": wrong}))


asyncio.run(main(sys.argv[1], sys.argv[2:]))
