#!/usr/bin/env python3
"""Real MCP clients against `mcp-mock serve`, each in an environment of its own.

run.py --set-up NAME CACHE: sets up one client below CACHE, and prints where.
run.py MCP_MOCK CACHE: sets up what is missing below CACHE, plays the scenario with
every client in every mode, and ends with "N passed, N failed, N skipped". A client
that cannot be had is a failure. Agents are asked where MCP_MOCK_AGENTS is the
folder of their programs (node_modules/.bin), and are skipped where it is not set.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

# The sources are read where they are, and nothing is put beside them.
sys.dont_write_bytecode = True
import configured

HERE = os.path.dirname(os.path.abspath(__file__))
PYTHON = {
    "python-1": "mcp==1.30.0",
    "python-2": "mcp==2.3.0",
    "langchain": "langchain-mcp-adapters==0.3.2",
    "libraries": "langchain-mcp-adapters==0.3.2 inspect-ai==0.3.285 openai-agents==0.24.0 pydantic-ai-slim[mcp]==2.68.0",
}
NODE = {
    "typescript-1": ["@modelcontextprotocol/sdk@1.32.2"],
    "typescript-2": ["@modelcontextprotocol/client@2.4.0"],
    # The inspector needs a newer Node.js than many a machine has.
    "inspector": ["@modelcontextprotocol/inspector@2.12.0", "node@22.23.3"],
}
CLIENTS = [
    ("python-1", "python_1.py", ["legacy"]),
    ("python-2", "python_2.py", ["auto", "legacy", "2026-07-28"]),
    ("typescript-1", "typescript_1.mjs", ["legacy"]),
    ("typescript-2", "typescript_2.mjs", ["auto", "legacy", "2026-07-28"]),
]
EXPECTED = {
    "tools": ["flaky", "slow", "strict"],
    "flaky": [
        [True, "503 busy"],
        [False, '{"ok":true}'],
        [True, "exhausted: no further response for this call of mock.flaky"],
    ],
    "strict": [True, "unmatched: no response for this call of mock.strict"],
    "slow": "timed out",
    "retry": [False, "in time"],
}


def run(command, **options):
    result = subprocess.run(command, capture_output=True, text=True, timeout=300, **options)
    if result.returncode != 0:
        raise RuntimeError(f"{command[0]} ended with {result.returncode}: {(result.stderr or result.stdout)[-1500:]}")
    return result.stdout


def set_up(cache, name):
    """The folder of a client's environment, made anew unless it is complete."""
    wanted = PYTHON.get(name) or " ".join(NODE[name])
    folder = os.path.join(cache, name)
    mark = os.path.join(folder, "complete")
    if os.path.exists(mark) and open(mark, encoding="utf-8").read() == wanted:
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    if name in PYTHON:
        run([sys.executable, "-m", "venv", os.path.join(folder, "venv")])
        run([os.path.join(folder, "venv/bin/pip"), "install", "--quiet", "--disable-pip-version-check", *wanted.split()])
    else:
        with open(os.path.join(folder, "package.json"), "w", encoding="utf-8") as file:
            json.dump({"private": True}, file)
        run(["npm", "install", "--no-save", "--no-package-lock", "--no-audit", "--no-fund", *NODE[name]], cwd=folder)
    with open(mark, "w", encoding="utf-8") as file:
        file.write(wanted)
    return folder


def recorded(mock, fixture, record):
    """A command that serves, and writes down how the server ended."""
    return ["/bin/sh", "-c", '"$@" 2>/dev/null; echo $? >>"$0"', record, mock, "serve", fixture]


def check_ends(record):
    with open(record, encoding="utf-8") as file:
        ends = file.read().split()
    # A probing client may start a sibling; whichever ended by itself ended well.
    if not ends or set(ends) != {"0"}:
        raise RuntimeError(f"the server ended with {ends}, not with 0")


def play(mock, folder, script, mode, record):
    server = recorded(mock, os.path.join(HERE, "fixture.yaml"), record)
    if script.endswith(".py"):
        command = [os.path.join(folder, "venv/bin/python"), os.path.join(HERE, script), mode, *server]
    else:
        # Imports are looked for beside the script.
        for name in (script, "scenario.mjs"):
            shutil.copy(os.path.join(HERE, name), folder)
        command = ["node", os.path.join(folder, script), mode, *server]
    seen = json.loads(run(command).splitlines()[-1])
    if seen != EXPECTED:
        raise RuntimeError(f"expected {json.dumps(EXPECTED)}\n     got {json.dumps(seen)}")
    check_ends(record)


def inspector(folder, record, server):
    """How to ask the inspector, which starts a process a command."""
    node = os.path.dirname(os.path.realpath(os.path.join(folder, "node_modules/.bin/node")))
    # Its catalog of servers would else land in the home directory.
    catalog = os.path.join(os.path.dirname(record), "catalog.json")
    environment = dict(os.environ, PATH=f"{node}:{os.environ['PATH']}", MCP_CATALOG_PATH=catalog)
    program = os.path.join(folder, "node_modules/.bin/mcp-inspector")

    def ask(*arguments):
        command = [program, "--cli", *server, *arguments]
        result = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)
        try:
            return json.loads(result.stdout)
        except ValueError:
            raise RuntimeError(f"the inspector printed {result.stdout!r} {result.stderr[-800:]!r}") from None

    return ask


def inspect(mock, folder, record):
    """Counted in memory: each command sees the first step."""
    ask = inspector(folder, record, recorded(mock, os.path.join(HERE, "fixture.yaml"), record))
    tools = [tool["name"] for tool in ask("--method", "tools/list")["tools"]]
    first = ask("--method", "tools/call", "--tool-name", "flaky")
    unmatched = ask("--method", "tools/call", "--tool-name", "strict", "--tool-arg", "a=2")
    seen = [tools, *([result.get("isError"), result["content"][0]["text"]] for result in (first, unmatched))]
    wanted = [EXPECTED["tools"], EXPECTED["flaky"][0], EXPECTED["strict"]]
    if seen != wanted:
        raise RuntimeError(f"expected {wanted}\n     got {seen}")
    check_ends(record)


def inspect_session(mock, folder, record):
    """Counted in a session: each command sees the next step."""
    session = Session(mock, os.path.dirname(record))
    ask = inspector(folder, record, session.server)
    results = [ask("--method", "tools/call", "--tool-name", "flaky") for _ in range(3)]
    seen = [[result.get("isError", False), result["content"][0]["text"]] for result in results]
    if seen != EXPECTED["flaky"]:
        raise RuntimeError(f"expected {EXPECTED['flaky']}\n     got {seen}")
    session.check(EXPECTED["flaky"], processes=3)
    run([mock, "verify", session.place])


class Session:
    """A session made from session.yaml, and what its journal says."""

    def __init__(self, mock, scratch):
        self.mock, self.place = mock, os.path.join(scratch, "session")
        run([mock, "session", os.path.join(HERE, "session.yaml"), "--dir", self.place])
        self.server = [mock, "serve", "--session", self.place]

    def check(self, wanted, tool="flaky", processes=None):
        """What each call of the tool got, in the order of the journal, and from how many processes."""
        events = json.loads(run([self.mock, "status", self.place, "--json"]))["tool_events"]
        seen = [[not event["success"], event["result"]["content"][0]["text"]] for event in events if event["tool"] == tool]
        starts = len({event["instance"] for event in events})
        if seen != wanted or (processes is not None and starts != processes):
            raise RuntimeError(f"the journal has {seen} from {starts} processes")


def again(folder, script, tool, count, server):
    """The command that calls a tool, each time over a new connection."""
    if script.endswith(".py"):
        program = [os.path.join(folder, "venv/bin/python"), os.path.join(HERE, script)]
    else:
        shutil.copy(os.path.join(HERE, script), folder)
        program = ["node", os.path.join(folder, script)]
    return [*program, tool, str(count), *server]


def restart(mock, folder, script, scratch):
    """Each call has a server of its own, and the sequence goes on."""
    session = Session(mock, scratch)
    seen = json.loads(run(again(folder, script, "flaky", 3, session.server)).splitlines()[-1])
    if seen != EXPECTED["flaky"]:
        raise RuntimeError(f"expected {EXPECTED['flaky']}, got {seen}")
    session.check(EXPECTED["flaky"], processes=3)
    run([mock, "verify", session.place])


def restart_in_scope(mock, folder, script, scratch):
    """The same without a session that anybody made: it lasts as long as the client."""
    server = ["env", f"XDG_RUNTIME_DIR={scratch}", mock, "serve", os.path.join(HERE, "session.yaml"), "--scope", "client"]
    for _ in range(2):
        seen = json.loads(run(again(folder, script, "flaky", 3, server)).splitlines()[-1])
        if seen != EXPECTED["flaky"]:
            raise RuntimeError(f"expected {EXPECTED['flaky']}, got {seen}")


def side_by_side(mock, folders, scratch):
    """Two clients at once, each with a server a call, share the steps of one sequence."""
    session = Session(mock, scratch)
    scripts = ["python_2_again.py", "typescript_2_again.mjs"]
    commands = [again(folder, script, "many", 10, session.server) for folder, script in zip(folders, scripts)]
    clients = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for command in commands]
    outputs = [client.communicate(timeout=120)[0] for client in clients]
    seen = [text for output in outputs for _, text in json.loads(output.splitlines()[-1])]
    if sorted(seen, key=int) != [str(step) for step in range(20)]:
        raise RuntimeError(f"the steps were {seen}")
    session.check([[False, str(step)] for step in range(20)], tool="many")


def every_tool(folder, name, mode, server):
    """What goes wrong when a client lists the tools of a server, and calls each of them."""
    version = name[-1]
    if name.startswith("python"):
        program = [os.path.join(folder, "venv/bin/python"), os.path.join(HERE, f"every_tool_{version}.py")]
    else:
        for script in (f"every_tool_{version}.mjs", "every_tool.mjs"):
            shutil.copy(os.path.join(HERE, script), folder)
        program = ["node", os.path.join(folder, f"every_tool_{version}.mjs")]
    return json.loads(run([*program, mode, *server]).splitlines()[-1])


def accept(mock, folder, name, revision):
    """What is admitted is accepted, whatever revision the client speaks."""
    server = [mock, "serve", os.path.join(HERE, "admitted.yaml")]
    mode = revision
    if revision != "2026-07-28":
        mode, server = "legacy", [sys.executable, os.path.join(HERE, "older.py"), revision, *server]
    seen = every_tool(folder, name, mode, server)
    if seen != {"tools": 21, "wrong": {}}:
        raise RuntimeError(f"expected 21 tools and nothing wrong, got {json.dumps(seen)}")


def refuse(folder, name, mode, column):
    """What is refused at admission, served all the same: who refuses it is in the data."""
    path = os.path.join(HERE, "forced.json")
    with open(path, encoding="utf-8") as file:
        cases = json.load(file)
    serve = [sys.executable, os.path.join(HERE, "forced.py"), path]
    results = every_tool(folder, name, mode, [*serve, "results"])["wrong"]
    different = []
    for index, case in enumerate(cases):
        if "result" in case:
            seen = "refused" if f"case-{index}" in results or "tools/list" in results else "taken"
        else:
            wrong = every_tool(folder, name, mode, [*serve, str(index)])["wrong"]
            seen = "refused" if wrong else "taken"
        expected = "refused" if column in case["refused_by"] else "taken"
        if seen != expected:
            different.append(f"{case['name']}: expected {expected}, got {seen}")
    if different:
        raise RuntimeError("\n     ".join(different))


def main(mock, cache):
    passed = failed = 0
    checks = [(f"{name} {mode}", name, lambda folder, record, s=script, m=mode: play(mock, folder, s, m, record))
              for name, script, modes in CLIENTS for mode in modes]
    checks.append(("inspector --cli", "inspector", lambda folder, record: inspect(mock, folder, record)))
    checks.append(("inspector --cli in a session", "inspector", lambda folder, record: inspect_session(mock, folder, record)))
    for name, script in [("langchain", "langchain.py"), ("python-2", "python_2_again.py"), ("typescript-2", "typescript_2_again.mjs")]:
        checks.append((f"{name} with a server a call", name,
                       lambda folder, record, s=script: restart(mock, folder, s, os.path.dirname(record))))
        checks.append((f"{name} with --scope client", name,
                       lambda folder, record, s=script: restart_in_scope(mock, folder, s, os.path.dirname(record))))
    for name, _, modes in CLIENTS:
        eras = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] + modes[2:]
        for era in eras:
            checks.append((f"{name} accepts what is admitted in {era}", name,
                           lambda folder, record, n=name, r=era: accept(mock, folder, n, r)))
        for mode in ["legacy"] + modes[2:]:
            checks.append((f"{name} {mode} and what is refused", name,
                           lambda folder, record, n=name, m=mode: refuse(folder, n, m, f"{n} {m}")))
    checks.append(("python-2 beside typescript-2", "python-2",
                   lambda folder, record: side_by_side(mock, [folder, set_up(cache, "typescript-2")], os.path.dirname(record))))
    for client, script in configured.LIBRARIES:
        checks.append((f"{client} as configured", "libraries",
                       lambda folder, record, c=client, s=script: configured.library(mock, folder, c, s, os.path.dirname(record))))
    agents = os.environ.get("MCP_MOCK_AGENTS")
    skipped = 0
    for client, *_ in configured.AGENTS:
        if agents:
            checks.append((f"{client} as configured", None,
                           lambda _, record, c=client: configured.agent(mock, os.path.abspath(agents), c, os.path.dirname(record))))
        else:
            skipped += 1
            print(f"{client} as configured: skipped: MCP_MOCK_AGENTS is not set", flush=True)
    for title, name, check in checks:
        with tempfile.TemporaryDirectory() as scratch:
            try:
                check(name and set_up(cache, name), os.path.join(scratch, "ends"))
                passed += 1
                print(f"{title}: ok", flush=True)
            except (OSError, RuntimeError, subprocess.TimeoutExpired, ValueError) as error:
                failed += 1
                print(f"{title}: FAILED: {error}", flush=True)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[1] == "--set-up":
        print(set_up(os.path.abspath(sys.argv[3]), sys.argv[2]))
        sys.exit()
    if len(sys.argv) != 3:
        sys.exit("usage: run.py MCP_MOCK CACHE")
    sys.exit(main(*(os.path.abspath(path) for path in sys.argv[1:])))
