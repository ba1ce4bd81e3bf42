"""What `mcp-mock config --for` prints, as the clients themselves read it."""
import json
import os
import re
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
FIXTURE = os.path.join(HERE, "session.yaml")
LIBRARIES = [
    ("langchain", "langchain_calls.py"),
    ("inspect-ai", "inspect_evals.py"),
    ("openai-agents", "openai_agents.py"),
    ("pydantic-ai", "pydantic_ai_runs.py"),
]
EXPECTED = {"tools": ["flaky", "many"], "calls": ["0", "1", "2"]}
# Client, program, the file below the home directory, the command, and what it has to print.
AGENTS = [
    ("claude-code", "claude", ".claude.json", ["mcp", "list"], r"mock: .* Connected"),
    ("codex", "codex", ".codex/config.toml", ["mcp", "get", "mock"], r"enabled: true[\s\S]*command: MOCK\s+args: serve FIXTURE --server mock"),
    ("gemini-cli", "gemini", ".gemini/settings.json", ["mcp", "list"], r"✓ mock: .* Connected"),
    ("copilot", "copilot", ".copilot/mcp-config.json", ["mcp", "get", "mock"], r"Status: Enabled[\s\S]*Command: MOCK serve FIXTURE --server mock\s+Tools: \* \(all\)"),
    ("opencode", "opencode", ".config/opencode/opencode.json", ["mcp", "list"], r"✓ mock connected"),
    ("qwen-code", "qwen", ".qwen/settings.json", ["mcp", "list"], r"✓ mock: .* Connected"),
    ("droid", "droid", ".factory/mcp.json", ["mcp", "list"], r"mock +stdio +connected"),
]


def printed(mock, client):
    command = [mock, "config", FIXTURE, "--for", client]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def library(mock, folder, client, script, scratch):
    """The printed program, imported: its tools, and a sequence that goes on."""
    with open(os.path.join(scratch, "mocked.py"), "w", encoding="utf-8") as file:
        file.write(printed(mock, client))
    command = [os.path.join(folder, "venv/bin/python"), os.path.join(HERE, "configured", script)]
    environment = dict(os.environ, PYTHONPATH=scratch)
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment, cwd=scratch)
    seen = result.stdout.splitlines()[-1:] or [result.stderr[-1500:]]
    if seen != [json.dumps(EXPECTED)]:
        raise RuntimeError(f"expected {json.dumps(EXPECTED)}\n     got {seen[0]}")


def agent(mock, programs, client, scratch):
    """The printed file in a home directory of its own, and what the agent says of its servers."""
    _, program, place, command, wanted = next(row for row in AGENTS if row[0] == client)
    work = os.path.join(scratch, "work")
    os.mkdir(work)
    place = os.path.join(scratch, place)
    os.makedirs(os.path.dirname(place), exist_ok=True)
    with open(place, "w", encoding="utf-8") as file:
        file.write(printed(mock, client))
    node = os.path.join(programs, "../node/bin")
    environment = {
        "HOME": scratch,
        "PATH": os.pathsep.join([node, programs, os.environ["PATH"]]),
        "NO_COLOR": "1",
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
        "DISABLE_AUTOUPDATER": "1",
        "COPILOT_AUTO_UPDATE": "false",
    }
    result = subprocess.run(
        [os.path.join(programs, program), *command],
        capture_output=True, text=True, timeout=120, env=environment, cwd=work, stdin=subprocess.DEVNULL,
    )
    seen = re.sub("\x1b\\[[0-9;]*m", "", result.stdout + result.stderr)
    wanted = wanted.replace("MOCK", re.escape(mock)).replace("FIXTURE", re.escape(FIXTURE))
    if not re.search(wanted, seen):
        raise RuntimeError(f"expected {wanted}\n     got {seen[-1500:]}")
