# SPDX-License-Identifier: Apache-2.0
"""Run by gdb in a process that is at work (unwind_against_gdb.sh): stops it at random moments, and writes of
each thread what gdb says of its callers and what walk_stopped, asked at the same stop, does; both in the forms
that unwind_compare.py reads. Inlined functions and tail calls, which gdb infers from debug information, are no
frames of a stack.

WALK is walk_stopped, STOPS how many, OURS and THEIRS the files that are appended to.
"""
import os, random, signal, subprocess, threading
import gdb

FIRST_REGISTERS = ("rsp", None, "rbp", "rbx") if gdb.selected_frame().architecture().name().startswith("i386") \
    else ("sp", "x30", "x29", "x19")
# By their numbers in DWARF.
GENERAL = ("rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", *(f"r{n}" for n in range(8, 16))) \
    if FIRST_REGISTERS[0] == "rsp" else (*(f"x{n}" for n in range(31)), "sp")
WORD = (1 << 64) - 1

def interrupt(pid):
    try:
        os.kill(pid, signal.SIGINT)
    except ProcessLookupError:
        pass

def code_of(pid):
    """What of PID's memory is executable."""
    with open(f"/proc/{pid}/maps") as maps:
        rows = [line.split(None, 2) for line in maps]
    return [tuple(int(end, 16) for end in row[0].split("-")) for row in rows if "x" in row[1]]

def callers(frame, code):
    """Where gdb knows nothing of some code it takes what is on the stack for return addresses: a caller outside of
    all code is its last."""
    while frame is not None and any(start <= frame.pc() & WORD < end for start, end in code):
        if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
            yield frame.pc() & WORD, frame.name() or "[unknown]"
        try:
            frame = frame.older()
        except gdb.error:
            return

def register(frame, name):
    return int(frame.read_register(name)) & WORD if name else 0

def write_threads(process, walker, ours, theirs, number):
    code = code_of(process.pid)
    for thread in process.threads():
        thread.switch()
        frame = gdb.newest_frame()
        registers = [frame.pc() & WORD] + [register(frame, name) for name in FIRST_REGISTERS + GENERAL]
        walker.stdin.write(" ".join(f"{value:x}" for value in registers) + "\n")
        walker.stdin.flush()
        end, *pcs = walker.stdout.readline().split()
        tid = thread.ptid[1]
        ours.write(f"{process.pid} {tid} {number} {end} " + " ".join(f"{pc}:" for pc in pcs) + "\n")
        theirs.write(f"{process.pid}/{tid} 0.{number:09d}:\n")
        for pc, name in callers(frame, code):
            theirs.write(f"  {pc:x} {name} ()\n")

def main():
    for command in ("pagination off", "confirm off", "backtrace past-main on", "debuginfod enabled off"):
        gdb.execute("set " + command)
    gdb.execute("handle all nostop noprint pass", to_string=True)
    gdb.execute("handle SIGINT stop print nopass", to_string=True)
    process = gdb.selected_inferior()
    pid = process.pid
    walker = subprocess.Popen([os.environ["WALK"], str(pid)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with open(os.environ["OURS"], "a") as ours, open(os.environ["THEIRS"], "a") as theirs:
        for number in range(int(os.environ["STOPS"])):
            threading.Timer(random.uniform(0.002, 0.03), interrupt, (pid,)).start()
            gdb.execute("continue", to_string=True)
            if process.pid == 0:
                break
            write_threads(process, walker, ours, theirs, number)
    walker.stdin.close()
    walker.wait()

main()
