"""An agent that speaks the Agent Client Protocol, and does what its words say.

Words with a meaning at their own time: junk, auth, auth-late, modes, options,
lazy, slow, quits, version=N, dies=METHOD, mute=METHOD, refuses=METHOD, stubborn, ends, lingers.
The others are done one after the other when the prompt comes:
call=SERVER.TOOL:ARGUMENTS, run=COMMAND, permit=COMMAND, ask=METHOD, say=TEXT,
split=TEXT (said letter by letter), hang, flood, crash, stop=REASON.
What comes from the client is written to $ACP_LOG, a line each.
"""

import json
import os
import select
import signal
import subprocess
import sys

WORDS = sys.argv[1:]
SERVERS = {}


def given(name):
    return [word[len(name) + 1:] for word in WORDS if word.startswith(name + "=")]


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def receive():
    line = sys.stdin.readline()
    if not line:
        if "lingers" in WORDS:
            while True:
                signal.pause()
        sys.exit(0)
    if "ACP_LOG" in os.environ:
        with open(os.environ["ACP_LOG"], "a") as log:
            log.write(line)
    return json.loads(line)


def update(what, /, **fields):
    send({"method": "session/update",
          "params": {"sessionId": "s-1", "update": {"sessionUpdate": what, **fields}}})


def say(text):
    update("agent_message_chunk", content={"type": "text", "text": text})


class Server:
    """An MCP server of the client's, through its standard streams."""

    def __init__(self, config):
        env = {**os.environ, **{it["name"]: it["value"] for it in config["env"]}}
        self.process = subprocess.Popen([config["command"], *config["args"]], env=env, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.last = 0
        self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {},
                                "clientInfo": {"name": "agent.py", "version": "1"}})
        self.tell({"method": "notifications/initialized"})
        self.ask("tools/list", {})

    def tell(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def ask(self, method, params):
        self.last += 1
        self.tell({"id": self.last, "method": method, "params": params})
        while True:
            message = json.loads(self.process.stdout.readline())
            if message.get("id") == self.last:
                return message["result"]


def server(name):
    if isinstance(SERVERS[name], dict):
        SERVERS[name] = Server(SERVERS[name])
    return SERVERS[name]


def call(number, word):
    where, arguments = word.split(":", 1)
    name, tool = where.split(".")
    arguments = json.loads(arguments)
    update("tool_call", toolCallId=number, title=f"mcp__{name}__{tool}", kind="other",
           status="pending", rawInput={})
    update("tool_call_update", toolCallId=number, status="in_progress", rawInput=arguments)
    result = server(name).ask("tools/call", {"name": tool, "arguments": arguments})
    content = [{"type": "content", "content": it} for it in result["content"]]
    status = "failed" if result.get("isError") else "completed"
    update("tool_call_update", toolCallId=number, status=status, content=content)


def run(number, command):
    update("tool_call", toolCallId=number, title=f"`{command}`", kind="execute",
           status="in_progress", rawInput={"command": command})
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL)
    status = "failed" if done.returncode else "completed"
    update("tool_call_update", toolCallId=number, status=status,
           rawOutput=done.stdout + done.stderr)


def request(method, params):
    send({"id": f"r-{method}", "method": method, "params": params})
    while True:
        message = receive()
        if message.get("id") == f"r-{method}":
            return message


def permit(number, command):
    options = [{"optionId": "always", "name": "Always", "kind": "allow_always"},
               {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
               {"optionId": "no", "name": "No", "kind": "reject_once"}]
    answer = request("session/request_permission", {
        "sessionId": "s-1", "options": options,
        "toolCall": {"toolCallId": number, "title": command, "kind": "execute",
                     "rawInput": {"command": command}}})
    if answer["result"]["outcome"] == {"outcome": "selected", "optionId": "yes"}:
        run(number, command)


def prompt():
    for index, word in enumerate(WORDS):
        name, _, value = word.partition("=")
        number = f"call-{index}"
        if name == "call":
            call(number, value)
        elif name == "run":
            run(number, value)
        elif name == "permit":
            permit(number, value)
        elif name == "ask":
            say(str(request(value, {})["error"]["code"]))
        elif name == "say":
            say(value)
        elif name == "split":
            for letter in value:
                say(letter)
        elif name == "flood":
            while True:
                say(".")
        elif name == "crash":
            os.kill(os.getpid(), signal.SIGKILL)
        elif name == "hang":
            while receive().get("method") != "session/cancel" or "stubborn" in WORDS:
                pass
            return "end_turn" if "ends" in WORDS else "cancelled"
        elif name == "stop":
            return value
    return "end_turn"


def opened(servers):
    for config in servers:
        SERVERS[config["name"]] = config
        if "lazy" not in WORDS and "slow" not in WORDS:
            server(config["name"])
    session = {"sessionId": "s-1"}
    if "modes" in WORDS:
        session["modes"] = {"currentModeId": "auto", "availableModes": [
            {"id": "auto", "name": "Auto"}, {"id": "full", "name": "Full"}]}
    if "options" in WORDS:
        session["configOptions"] = [{
            "id": "approval", "name": "Approval", "category": "mode", "type": "select",
            "currentValue": "auto", "options": [{"value": "auto", "name": "Auto"},
                                                {"value": "full", "name": "Full"}]}]
    return session


def main():
    if "stubborn" in WORDS:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if "start" in given("dies"):
        sys.exit(3)
    while True:
        message = receive()
        method = message.get("method")
        if "junk" in WORDS:
            print("Loading… \x1b[31m" + method, flush=True)
            print("[1, 2]\n\n{\"level\": \"info\"}", flush=True)
        if method in given("dies"):
            sys.exit(3)
        if method in given("mute") or "id" not in message:
            continue
        failed = None
        if method in given("refuses"):
            failed = {"code": -32603, "message": "Internal error", "data": {"details": "no model"}}
        if method == "authenticate" and message["params"] == {"methodId": "k"}:
            WORDS.remove("auth")
        if ("auth" in WORDS and method == "session/new"
                or "auth-late" in WORDS and method == "session/prompt"):
            failed = {"code": -32000, "message": "Authentication required"}
        if failed:
            send({"id": message["id"], "error": failed})
            continue
        result = {}
        if method == "initialize":
            result = {"protocolVersion": int((given("version") or [1])[0]),
                      "agentCapabilities": {}, "authMethods": [{"id": "k", "name": "API key"}]}
        elif method == "session/new":
            result = opened(message["params"]["mcpServers"])
        elif method == "session/prompt":
            result = {"stopReason": prompt()}
        send({"id": message["id"], "result": result})
        if "quits" in WORDS and method == "session/new":
            sys.exit("nobody has a key")
        if "slow" in WORDS and method == "session/new":
            early = select.select([sys.stdin], [], [], 0.5)[0]
            say("early, " if early else "late, ")
            for name in SERVERS:
                server(name)


main()
