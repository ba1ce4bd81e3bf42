"""Runs a command on a terminal of its own: ACTION COMMAND….

ACTION is what happens once the command has printed `ready`: `interrupt` types
Ctrl-C, `hangup` closes the terminal, `nothing` waits. Prints what the command
printed, then `exit N`.
"""

import os
import pty
import signal
import sys
import time

signal.alarm(60)

action, *command = sys.argv[1:]
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(command[0], command)
printed = b""
is_done = action == "nothing"
while True:
    try:
        chunk = os.read(terminal, 65536)
    except OSError:
        break
    if not chunk:
        break
    printed += chunk
    if not is_done and b"ready" in printed:
        is_done = True
        if action == "hangup":
            os.close(terminal)
            break
        # Stopped, so that what it passes on comes well after what the terminal sends.
        os.kill(pid, signal.SIGSTOP)
        os.write(terminal, b"\x03")
        time.sleep(0.5)
        os.kill(pid, signal.SIGCONT)
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
sys.stdout.buffer.write(printed + b"exit %d\n" % status)
