"""What LangChain sees of the servers of `mocked`; it starts one for each call."""
import asyncio
import json

from mocked import CLIENT


async def main():
    tools = {tool.name: tool for tool in await CLIENT.get_tools()}
    calls = [(await tools["many"].ainvoke({}))[0]["text"] for _ in range(3)]
    print(json.dumps({"tools": sorted(tools), "calls": calls}))


asyncio.run(main())
