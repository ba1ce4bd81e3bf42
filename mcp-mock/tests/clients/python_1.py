"""The scenario of run.py with the Python SDK `mcp` 1.x."""
import asyncio
import datetime
import json
import sys

from mcp import ClientSession, McpError, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main(command):
    async with stdio_client(StdioServerParameters(command=command[0], args=command[1:])) as (read, write):
        async with ClientSession(read, write) as session:
            await session.initialize()

            async def call(tool, arguments=None, timeout=10.0):
                seconds = datetime.timedelta(seconds=timeout)
                result = await session.call_tool(tool, arguments or {}, read_timeout_seconds=seconds)
                return [bool(result.isError), result.content[0].text]

            seen = {"tools": [tool.name for tool in (await session.list_tools()).tools]}
            seen["flaky"] = [await call("flaky") for _ in range(3)]
            seen["strict"] = await call("strict", {"a": 2})
            try:
                seen["slow"] = await call("slow", timeout=0.4)
            except McpError:
                seen["slow"] = "timed out"
            seen["retry"] = await call("slow")
            print(json.dumps(seen))


asyncio.run(main(sys.argv[2:]))
