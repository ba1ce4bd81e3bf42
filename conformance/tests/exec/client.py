"""Calls one tool once, over a server of an `mcpServers` file: FILE SERVER TOOL [ARGUMENTS]."""

import json
import os
import subprocess
import sys

file, server, tool, *arguments = sys.argv[1:]
about = json.load(open(file))["mcpServers"][server]
process = subprocess.Popen(
    [about["command"], *about["args"]],
    stdin=subprocess.PIPE,
    stdout=subprocess.PIPE,
    env={**os.environ, **about["env"]},
    text=True,
)


def send(message):
    process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    process.stdin.flush()


def ask(identifier, method, params):
    send({"id": identifier, "method": method, "params": params})
    while True:
        answer = json.loads(process.stdout.readline())
        if answer.get("id") == identifier:
            return answer


client = {"name": "client.py", "version": "1"}
hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}
ask(0, "initialize", hello)
send({"method": "notifications/initialized"})
params = {"name": tool, "arguments": json.loads(arguments[0]) if arguments else {}}
answer = ask(1, "tools/call", params)
print(answer["result"]["content"][0]["text"] if "result" in answer else answer["error"]["message"])
if os.environ.get("LEAVE_SERVER"):
    # Pipes that stay open in a child keep the server serving.
    pipes = [process.stdin.fileno(), process.stdout.fileno()]
    subprocess.Popen(["sleep", "300"], stdout=subprocess.DEVNULL, pass_fds=pipes)
    sys.stdout.flush()
    os._exit(0)
process.stdin.close()
process.wait()
sys.exit(bool(answer.get("result", {}).get("isError")))
