"""Stands between a client and a server, and asks for an older revision: older.py REVISION COMMAND…"""
import json
import subprocess
import sys
import threading

revision, command = sys.argv[1], sys.argv[2:]
server = subprocess.Popen(command, stdin=subprocess.PIPE)


def forward():
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if message.get("method") == "initialize":
            message["params"]["protocolVersion"] = revision
            line = json.dumps(message).encode() + b"\n"
        server.stdin.write(line)
        server.stdin.flush()
    server.stdin.close()


# The server writes to the client itself.
threading.Thread(target=forward, daemon=True).start()
sys.exit(server.wait())
