"""Serves what no document may say: forced.py CASES INDEX, over stdio, to a client of any revision.

A case has a `tool`, a definition that is listed as it stands, or a `result`
that its only tool gives.
"""
import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    case = json.load(file)[int(sys.argv[2])]
tool = {"name": "forced", "inputSchema": {"type": "object", "properties": {}}, **case.get("tool", {})}
tool = {key: value for key, value in tool.items() if value != "absent"}
info = {"name": "forced", "version": "1"}
for line in sys.stdin:
    message = json.loads(line)
    method, params = message.get("method"), message.get("params") or {}
    if "id" not in message:
        continue
    if method == "initialize":
        result = {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": info}
    elif method == "server/discover":
        result = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, "ttlMs": 0, "cacheScope": "private"}
    elif method == "tools/list":
        result = {"tools": [tool], "ttlMs": 0, "cacheScope": "private"}
    elif method == "tools/call":
        result = dict(case.get("result", {"content": []}))
    else:
        result = {}
    if "_meta" in params and "io.modelcontextprotocol/protocolVersion" in params["_meta"]:
        result.update({"resultType": "complete", "_meta": {"io.modelcontextprotocol/serverInfo": info}})
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
