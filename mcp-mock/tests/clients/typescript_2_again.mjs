// Calls of one tool with `@modelcontextprotocol/client` 2.x, each over a connection of its own,
// whose server is killed while it is connected. Negotiation `auto` probes with a sibling first.
// typescript_2_again.mjs TOOL COUNT COMMAND…: prints [is it an error, text] of each call.
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const [, , name, count, command, ...args] = process.argv;
const seen = [];
for (let call = 0; call < Number(count); call++) {
  const client = new Client({ name: "again", version: "1" }, { versionNegotiation: { mode: "auto" } });
  const transport = new StdioClientTransport({ command, args });
  await client.connect(transport);
  const result = await client.callTool({ name, arguments: {} });
  seen.push([result.isError === true, result.content[0].text]);
  process.kill(transport.pid, "SIGKILL");
  await client.close().catch(() => {});
}
console.log(JSON.stringify(seen));
