// Lists the tools and calls each with a connected TypeScript client: what went wrong, by tool.
export async function everyTool(client) {
  const wrong = {};
  let tools = [];
  try {
    tools = (await client.listTools()).tools.map((tool) => tool.name);
  } catch (error) {
    wrong["tools/list"] = String(error.message);
  }
  for (const name of tools) {
    try {
      await client.callTool({ name, arguments: {} });
    } catch (error) {
      wrong[name] = String(error.message);
    }
  }
  await client.close();
  console.log(JSON.stringify({ tools: tools.length, wrong }));
}
