// `@modelcontextprotocol/client` 2.x; the first argument is the mode.
import { everyTool } from "./every_tool.mjs";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const [, , mode, command, ...args] = process.argv;
const negotiation = { mode: /^\d/.test(mode) ? { pin: mode } : mode };
const client = new Client({ name: "typescript-2", version: "1" }, { versionNegotiation: negotiation });
await client.connect(new StdioClientTransport({ command, args }));
await everyTool(client);
