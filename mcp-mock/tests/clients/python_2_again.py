"""Calls of one tool with the Python SDK 2.x, each over a connection of its own.

python_2_again.py TOOL COUNT COMMAND…: prints [is it an error, text] of each call.
"""
import asyncio
import json
import sys

from mcp import Client, StdioServerParameters


async def main(tool, count, command):
    seen = []
    for _ in range(count):
        async with Client(StdioServerParameters(command=command[0], args=command[1:])) as client:
            result = await client.call_tool(tool, {})
            seen.append([bool(result.is_error), result.content[0].text])
    print(json.dumps(seen))


asyncio.run(main(sys.argv[1], int(sys.argv[2]), sys.argv[3:]))
