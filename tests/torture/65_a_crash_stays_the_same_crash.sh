#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 65: SIGSEGV, abort, SIGBUS, stack overflow: the same status, and a core with the same signal at
# the same instruction, without our rings in it. The program's crash handler runs, and the samples
# of the function before the crash are kept to the last (its CPU time, except the part between two
# samples).
ITIMER=1
. "$(dirname "$0")/lib.sh"
HZ=1000
ms=$(pick 100 5000)
board crash
ulimit -S -c 0
for way in segv abort bus overflow; do
  SAMPLES=$((ms / 50)) same "$torture/crash" $way "$ms"
  SAMPLES=$((ms / 50)) same "$torture/crash" $way "$ms" plain
done
# 20 ms are of ticks at the end and of an interval timer, which starts late; a third is chance.
HZ=200
long=$((3 * ms))
for sampler in "${samplers[@]}"; do
  recorded "$sampler" "$torture/crash" segv $long plain >/dev/null 2>&1
  status=$?
  [ $status = 139 ] || fail "$sampler: into a file: ended with $status"
  last=$(told "f['name'] == 'last_thing_before_the_crash'")
  [ $((3 * last)) -ge $((2 * long - 60)) ] || fail "$sampler: of $long ms before the crash $last ms are told: $(table)"
  say "$sampler: $last of $long ms before the crash are told"
done
# A core is written where the program runs, if this machine keeps cores as files at all.
cat >"$W/core.py" <<'P'
# Prints the signal and where the thread that got it was, as an offset into the program, of an ELF core.
import os, struct, sys
core = open(sys.argv[1], "rb").read()
segments, = struct.unpack_from("<Q", core, 32)
size, count = struct.unpack_from("<HH", core, 54)
pc_register = 32 if struct.unpack_from("<H", core, 18)[0] == 183 else 16
PRSTATUS, FILES = 1, 0x46494c45
signal = pc = start = None
for i in range(count):
    kind, _, note, _, _, bytes_, _, _ = struct.unpack_from("<IIQQQQQQ", core, segments + i * size)
    end = note + bytes_ if kind == 4 else note
    while note + 12 <= end:
        name_len, len_, type_ = struct.unpack_from("<III", core, note)
        body = note + 12 + (name_len + 3) // 4 * 4
        if type_ == PRSTATUS and signal is None:  # the first is the thread that crashed
            signal, = struct.unpack_from("<H", core, body + 12)
            pc, = struct.unpack_from("<Q", core, body + 112 + 8 * pc_register)
        if type_ == FILES:
            files, = struct.unpack_from("<Q", core, body)
            names = core[body + 16 + 24 * files:body + len_].split(b"\0")
            lows = [struct.unpack_from("<Q", core, body + 16 + 24 * n)[0] for n in range(files)]
            start = min(low for low, name in zip(lows, names) if os.path.basename(name) == b"crash")
        note = body + (len_ + 3) // 4 * 4
print("signal", signal, "at", hex(pc - start))
P
is_plain() { [ "$1" = plain ]; }
dump() { # dump SAMPLER: a core in a folder of its own, set as core
  mkdir "$W/core-$1"
  is_plain "$1" && how=() || how=(sampled "$1")
  (cd "$W/core-$1" && { "${how[@]}" "$torture/crash" segv 50 plain; } >/dev/null 2>&1; true)
  mapfile -t cores < <(find "$W/core-$1" -type f)
}
pattern=$(cat /proc/sys/kernel/core_pattern)
case $pattern in
'|'* | /*) without "the core file" "cores go to '$pattern' on this machine" && exit 0 ;;
esac
ulimit -S -c unlimited 2>/dev/null || { without "the core file" "cores are forbidden by a hard limit" && exit 0; }
dump plain
[ ${#cores[@]} != 0 ] || { without "the core file" "this machine writes none" && exit 0; }
expected=$(/usr/bin/python3 "$W/core.py" "${cores[0]}") || fail "the core without us cannot be read"
plain_bytes=$(stat -c %s "${cores[0]}")
CORE_MORE_KIB=256 # the agent's own pages; a ring is a megabyte and more
[[ $expected == "signal 11 at 0x"* ]] || fail "without us: $expected"
for sampler in "${samplers[@]}"; do
  dump "$sampler"
  [ ${#cores[@]} = 1 ] || fail "$sampler: ${#cores[@]} core files"
  words=$(/usr/bin/python3 "$W/core.py" "${cores[0]}") || fail "$sampler: the core cannot be read"
  [ "$words" = "$expected" ] || fail "$sampler: the core says $words, without us $expected"
  more=$((($(stat -c %s "${cores[0]}") - plain_bytes) / 1024))
  [ $more -le $CORE_MORE_KIB ] || fail "$sampler: the core is longer by $more KiB: a limited one would lose its stack"
  say "$sampler: the core is longer by $more KiB"
done
say "a core each: $expected"
