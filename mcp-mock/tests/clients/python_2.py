"""The scenario of run.py with the Python SDK `mcp` 2.x; the first argument is the mode."""
import asyncio
import json
import sys

from mcp import Client, MCPError, StdioServerParameters


async def main(mode, command):
    server = StdioServerParameters(command=command[0], args=command[1:])
    async with Client(server, mode=mode) as client:

        async def call(tool, arguments=None, timeout=10.0):
            result = await client.call_tool(tool, arguments or {}, read_timeout_seconds=timeout)
            return [bool(result.is_error), result.content[0].text]

        seen = {"tools": [tool.name for tool in (await client.list_tools()).tools]}
        seen["flaky"] = [await call("flaky") for _ in range(3)]
        seen["strict"] = await call("strict", {"a": 2})
        try:
            seen["slow"] = await call("slow", timeout=0.4)
        except (MCPError, TimeoutError):
            seen["slow"] = "timed out"
        seen["retry"] = await call("slow")
        print(json.dumps(seen))


asyncio.run(main(sys.argv[1], sys.argv[2:]))
