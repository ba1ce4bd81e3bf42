"""An agent with a real MCP client, the Python SDK 2.x, that retries once: FILE."""
import asyncio
import json
import subprocess
import sys

from mcp import Client, StdioServerParameters


async def lookup(server):
    async with Client(StdioServerParameters(command=server["command"], args=server["args"])) as client:
        for _ in range(2):
            result = await client.call_tool("lookup", {})
            if not result.is_error:
                break
        return result.content[0].text


for _ in range(2):
    merge = subprocess.run(["gh", "pr", "merge", "7"], capture_output=True, text=True)
    if merge.returncode == 0:
        break
servers = json.load(open(sys.argv[1], encoding="utf-8"))["mcpServers"]
print(merge.stdout, asyncio.run(lookup(servers["orders"])))
