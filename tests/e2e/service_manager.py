# SPDX-License-Identifier: Apache-2.0
# service_manager.py FOLDER SECONDS RELOADS PROGRAM...: starts PROGRAM like systemd with
# WatchdogSec=SECONDS and prints its notifications, one a line. It sends RELOADS times SIGHUP after
# READY=1, then SIGTERM after the second WATCHDOG=1, and exits with the program's status.
# Notifications of PROGRAM's children are distinguished by the pid in the kernel's credentials.
import os, signal, socket, struct, subprocess, sys

folder, seconds, reloads, program = sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
path = os.path.join(folder, "notify")
listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
listener.bind(path)
listener.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
listener.settimeout(30)
environment = dict(os.environ, NOTIFY_SOCKET=path, WATCHDOG_USEC=str(int(seconds * 1e6)))
environment.pop("WATCHDOG_PID", None)
child = subprocess.Popen(["/bin/sh", "-c", 'WATCHDOG_PID=$$ exec "$@"', "sh"] + program, env=environment)
beats = 0
try:
    while True:
        text, ancillary, _, _ = listener.recvmsg(4096, 64)
        pid = struct.unpack("iII", ancillary[0][2])[0]
        for line in text.decode().splitlines():
            print(line if pid == child.pid else "stranger " + line, flush=True)
        if text == b"READY=1" and reloads > 0:
            reloads -= 1
            os.kill(child.pid, signal.SIGHUP)
        beats += text == b"WATCHDOG=1"
        if beats == 2 and text == b"WATCHDOG=1":
            child.send_signal(signal.SIGTERM)
        if text == b"STOPPING=1":
            break
    sys.exit(child.wait(15))
finally:
    if child.poll() is None:
        child.kill()
    os.unlink(path)
