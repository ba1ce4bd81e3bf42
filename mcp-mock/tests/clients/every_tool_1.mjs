// `@modelcontextprotocol/sdk` 1.x
import { everyTool } from "./every_tool.mjs";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const [, , , command, ...args] = process.argv;
const client = new Client({ name: "typescript-1", version: "1" });
await client.connect(new StdioClientTransport({ command, args }));
await everyTool(client);
