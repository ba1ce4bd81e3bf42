"""What Inspect sees of the servers of `mocked`; outside of a connection it starts one for each call."""
import asyncio
import json

from inspect_ai.tool import ToolDef
from mocked import TOOLS


async def main():
    tools = {ToolDef(tool).name: tool for source in TOOLS for tool in await source.tools()}
    calls = [(await tools["many"]())[0].text for _ in range(3)]
    print(json.dumps({"tools": sorted(tools), "calls": calls}))


asyncio.run(main())
