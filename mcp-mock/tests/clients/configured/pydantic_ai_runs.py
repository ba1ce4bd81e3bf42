"""What Pydantic AI sees of the servers of `mocked`, over three runs of one agent."""
import asyncio
import json

from mocked import TOOLSETS
from pydantic_ai import Agent
from pydantic_ai.models.test import TestModel


async def main():
    model = TestModel(call_tools=["many"])
    agent = Agent(model, toolsets=TOOLSETS)
    calls = [json.loads((await agent.run("count")).output)["many"] for _ in range(3)]
    tools = [tool.name for tool in model.last_model_request_parameters.function_tools]
    print(json.dumps({"tools": sorted(tools), "calls": calls}))


asyncio.run(main())
