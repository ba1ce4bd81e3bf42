"""Calls of one tool through LangChain's adapter, which starts a server for each of them.

langchain.py TOOL COUNT COMMAND…: prints [is it an error, text] of each call.
"""
import asyncio
import json
import sys

from langchain_mcp_adapters.client import MultiServerMCPClient


async def main(name, count, command):
    server = {"transport": "stdio", "command": command[0], "args": command[1:]}
    tools = await MultiServerMCPClient({"mock": server}).get_tools()
    tool = next(tool for tool in tools if tool.name == name)
    seen = []
    for number in range(count):
        call = {"type": "tool_call", "id": str(number), "name": name, "args": {}}
        message = await tool.ainvoke(call)
        content = message.content
        text = content if isinstance(content, str) else content[0]["text"]
        seen.append([message.status == "error", text])
    print(json.dumps(seen))


asyncio.run(main(sys.argv[1], int(sys.argv[2]), sys.argv[3:]))
