"""Serves what no document may say, over stdio, to a client of any revision.

forced.py CASES INDEX: the definition of that case, as it stands, is listed.
forced.py CASES results: every case with a `result` is a tool, which gives it.
"""
import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    cases = json.load(file)
if sys.argv[2] == "results":
    cases = {f"case-{index}": case for index, case in enumerate(cases) if "result" in case}
else:
    cases = {"forced": cases[int(sys.argv[2])]}


def listed(name, definition):
    tool = {"name": name, "inputSchema": {"type": "object", "properties": {}}, **definition}
    return {key: value for key, value in tool.items() if value != "absent"}


tools = [listed(name, case.get("tool", {})) for name, case in cases.items()]
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
        result = {"tools": tools, "ttlMs": 0, "cacheScope": "private"}
    elif method == "tools/call":
        result = dict(cases[params["name"]].get("result", {"content": []}))
    else:
        result = {}
    if "io.modelcontextprotocol/protocolVersion" in params.get("_meta", {}):
        result.update({"resultType": "complete", "_meta": {"io.modelcontextprotocol/serverInfo": info}})
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
