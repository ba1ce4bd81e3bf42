#!/usr/bin/env python3
"""A stub in Python: a lock, a log, an answer."""
import fcntl
import json
import os
import sys

with open(os.path.join(os.path.dirname(__file__), "stub.jsonl"), "a") as log:
    fcntl.flock(log, fcntl.LOCK_EX)
    log.write(json.dumps(sys.argv[1:]) + "\n")
print("MERGED")
