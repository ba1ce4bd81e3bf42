"""A stand-in for a coding agent: it does what its arguments say, one after the
other, and tells of it in the event stream of Claude Code.

    stand_in.py [--mcp FILE] ACTION…

call TOOL        calls a tool of the server `orders`, once
call-twice TOOL  does so twice by itself, and tells of one call
refuse TOOL      tells that its policy refused the call
reject TOOL      calls a tool, and tells that its policy refused the call
claim TOOL       tells of a call that it does not make
sh LINE          runs a command line with bash -c
login LINE       runs it with bash -lc, after a profile that resets PATH
rc LINE          runs it with an interactive bash, after its start file
say TEXT         says something
fail             ends with status 2, having said nothing
"""
import json
import os
import subprocess
import sys

counter = 0
words = sys.argv[1:]
servers = {}
if words and words[0] == "--mcp":
    servers = json.load(open(words[1]))["mcpServers"]
    words = words[2:]


def tell(event):
    print(json.dumps(event), flush=True)


def asked(name, arguments):
    global counter
    counter += 1
    block = {"type": "tool_use", "id": f"t{counter}", "name": name, "input": arguments}
    tell({"type": "assistant", "message": {"content": [block]}})
    return f"t{counter}"


def ended(name, text, is_error=False):
    block = {"type": "tool_result", "tool_use_id": name, "content": text, "is_error": is_error}
    tell({"type": "user", "message": {"content": [block]}})


class Server:
    def __init__(self, name):
        entry = servers[name]
        self.process = subprocess.Popen(
            [entry["command"], *entry["args"]], text=True, bufsize=1,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )
        client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "stand-in", "version": "1"}}
        self.ask("initialize", client)
        self.send({"method": "notifications/initialized"})

    def send(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")

    def ask(self, method, params):
        self.send({"id": method, "method": method, "params": params})
        return json.loads(self.process.stdout.readline())["result"]

    def call(self, tool):
        return self.ask("tools/call", {"name": tool, "arguments": {"id": "A"}})


def connected():
    status, server = [], None
    for name in servers:
        try:
            server = Server(name)
            status.append({"name": name, "status": "connected"})
        except OSError:
            status.append({"name": name, "status": "failed"})
    tell({"type": "system", "subtype": "init", "mcp_servers": status})
    return server


if words == ["fail"]:
    sys.exit("stand-in: error: unexpected argument")
server = connected()
said = ""
for verb, what in zip(words[::2], words[1::2]):
    if verb in ("call", "call-twice"):
        name = asked(f"mcp__orders__{what}", {"id": "A"})
        if verb == "call-twice":
            server.call(what)
        result = server.call(what)
        ended(name, result["content"][0]["text"], result.get("isError", False))
    elif verb in ("refuse", "reject"):
        name = asked(f"mcp__orders__{what}", {"id": "A"})
        if verb == "reject":
            server.call(what)
        ended(name, "Claude requested permissions to use it, but you haven't granted it yet.", True)
    elif verb == "claim":
        ended(asked(f"mcp__orders__{what}", {"id": "A"}), "No such tool available", True)
    elif verb in ("sh", "login", "rc"):
        name = asked("Bash", {"command": what})
        shell = {"sh": ["bash", "-c"], "login": ["bash", "-lc"], "rc": ["bash", "-ic"]}[verb]
        done = subprocess.run([*shell, what], text=True, capture_output=True, stdin=subprocess.DEVNULL)
        ended(name, done.stdout + done.stderr, done.returncode != 0)
    elif verb == "say":
        said = what
        tell({"type": "assistant", "message": {"content": [{"type": "text", "text": what}]}})
tell({"type": "result", "subtype": "success", "is_error": False, "result": said})
if server:
    server.process.stdin.close()
    server.process.wait()
os._exit(0)
