#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""on_terminal.py COLUMNS COMMAND...: runs COMMAND on a terminal of its own (stdin, stdout and
stderr), COLUMNS wide, prints the terminal's output, and exits with COMMAND's status. With OUT in
the environment stdout is that file, and only stderr the terminal."""
import fcntl, os, pty, struct, sys, termios

columns, command = int(sys.argv[1]), sys.argv[2:]
pid, fd = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    if "OUT" in os.environ:
        os.dup2(os.open(os.environ["OUT"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), 1)
    os.execvp(command[0], command)
while True:
    try:
        piece = os.read(fd, 65536)
    except OSError: # the last of its users is gone
        break
    if not piece:
        break
    sys.stdout.buffer.write(piece.replace(b"\r\n", b"\n"))
sys.stdout.flush()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) & 255)
