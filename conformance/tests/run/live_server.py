"""A real MCP server without dependencies: its tool `write` writes a file where it runs."""

import json
import sys

for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    method, params = message["method"], message.get("params", {})
    result = {}
    if method == "initialize":
        about = {"name": "live", "version": "1"}
        version = params["protocolVersion"]
        result = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about}
    elif method == "tools/call":
        with open(params["arguments"]["path"], "a") as file:
            file.write(params["arguments"]["text"])
        result = {"content": [{"type": "text", "text": "written"}]}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
