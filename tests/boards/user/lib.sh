# SPDX-License-Identifier: Apache-2.0
# Sourced by the scripts of tests/boards/user: the agent of another CPU in programs of that CPU,
# under qemu's user mode emulation. fleetprofd is of the same CPU where Debian has its libraries
# (arm64, armhf, mipsel; riscv64 uses the machine's own). The collector is the machine's own.
#
# Programs run under -singlestep: otherwise signals are delivered only at the end of a block of
# translated code, and all samples fall there (measured: 0 of 499 in the block that worked).
# emulator.c supplies missing features. There are no perf events.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../../.." && pwd)
. "$root/tests/e2e/lib.sh"

# cpu ARCH: sets EMULATOR, CC, LIBRARIES (qemu's -L), LIBRARY (the agent) for ARCH.
cpu() {
  local triplet build=$root/build-$1 sysroot=$root/build-sysroot-$1
  ARCH=$1 OBJECTS=$build/agent/preload
  case $1 in
  arm64) EMULATOR=qemu-aarch64-static triplet=aarch64-linux-gnu ;;
  armhf) EMULATOR=qemu-arm-static triplet=arm-linux-gnueabihf ;;
  mipsel) EMULATOR=qemu-mipsel-static triplet=mipsel-linux-gnu ;;
  riscv64) EMULATOR=qemu-riscv64-static triplet=riscv64-linux-gnu sysroot=/usr/riscv64-linux-gnu ;;
  esac
  command -v "$EMULATOR" "$triplet-gcc" >/dev/null || { without "$1" "$EMULATOR or $triplet-gcc is not installed"; return 1; }
  TRIPLET=$triplet LIBRARIES=$sysroot CC=("$triplet-gcc") DAEMON=
  if [ "$1" != riscv64 ]; then
    "$root/deploy/cross/sysroot.sh" "$1" >"$W/$1.log" 2>&1 || { without "$1" "no sysroot: $(tail -n 1 "$W/$1.log")"; return 1; }
    CC+=("--sysroot=$sysroot")
    DAEMON=$build/installed/bin/fleetprofd
  fi
  (cd "$root" && cmake --preset "$1" && cmake --build "build-$1" -j "$(nproc)" && cmake --install "build-$1" --prefix "$build/installed") \
    >"$W/$1.log" 2>&1 || fail "build for $1: $(grep -m 1 -i error "$W/$1.log" || tail -n 1 "$W/$1.log")"
  LIBRARY=$build/installed/lib/fleetprof/libfleetprof.so
  mkdir -p "$W/$1/maps"
  compile emulator.so -shared -fPIC "$here/emulator.c"
  board_up
}

# The checks of tests/handler.sh on the object code: no functions of libc or the compiler's library,
# no thread-local storage, a KiB of stack.
handler_is_free() {
  local code
  code=$(TRIPLET=$TRIPLET "$root/tests/handler.sh" "$OBJECTS/libfleetprof.so" "$(find "$OBJECTS" -path '*fleetprof_handler.dir*' -name '*.o' | tr '\n' ' ')" \
    "$(find "$OBJECTS" -path '*fleetprof_control.dir*' -name '*.o' | tr '\n' ' ')") || fail "the handler for $ARCH: $code"
  say "$ARCH: $(sed -n 's/^\(handler: .*symbol\);.*/\1/p' <<<"$code")"
}

# compile NAME FLAGS... FILE: into W/ARCH/NAME.
compile() {
  local name=$1
  shift
  "${CC[@]}" -O2 -g -D_GNU_SOURCE -Wall -o "$W/$ARCH/$name" "$@" -pthread -lm 2>"$W/$ARCH.log" || fail "$name for $ARCH: $(head -n 3 "$W/$ARCH.log")"
}

emulated() { "$EMULATOR" -L "$LIBRARIES" -E OWN_MAPS="$W/$ARCH/maps" "$@"; }

# Waits until the daemon answers as fast as a starting program requires: the emulator translates its
# code on first use.
board_up() {
  enroll "$ARCH"
  if [ -n "$DAEMON" ]; then
    emulated -E LD_PRELOAD="$W/$ARCH/emulator.so" "$DAEMON" --foreground --state "$B" --collector "127.0.0.1:$A" >"$W/$ARCH.log" 2>&1 &
  else
    gcc -O2 -shared -fPIC -D_GNU_SOURCE -o "$W/$ARCH/native.so" "$here/emulator.c" || fail "emulator.c"
    OWN_MAPS=$W/$ARCH/maps LD_PRELOAD=$W/$ARCH/native.so fleetprofd --foreground --state "$B" --collector "127.0.0.1:$A" >"$W/$ARCH.log" 2>&1 &
  fi
  started+=($!)
  until_true 30 test -S "$B/fleetprofd.sock" || fail "the daemon for $ARCH has no socket: $(tail -n 2 "$W/$ARCH.log")"
  compile warm "$root/tests/targets/truth.c"
  for again in 1 2 3 4; do sampled warm "$W/$ARCH/warm" 0.2 >/dev/null; done
}

# sampled SERVICE PROGRAM ARG...: under the agent, by timers.  A start that the daemon was too slow for
# is tried again: the agent does not wait.
sampled() {
  local service=$1
  shift
  emulated -singlestep -E FLEETPROF_SERVICE="$service" -E FLEETPROF_SOCKET="$B/fleetprofd.sock" -E FLEETPROF_SAMPLER=timer \
    -E LD_PRELOAD="$LIBRARY:$W/$ARCH/emulator.so" ${OPTIONS:-} "$@"
}

samples_of() { profile "{board=\"$ARCH\",service=\"$1\"}" | json "d['samples']"; }
has_samples() { [ "$(samples_of "$1")" -ge "$2" ]; }
# self_share SERVICE FUNCTION: of the CPU time in user code.
self_share() {
  profile "{board=\"$ARCH\",service=\"$1\"}" |
    json "sum(f['self'] for f in d['functions'] if f['name'] == '$2') / (sum(f['self'] for f in d['functions'] if f['name'] not in ('[kernel]', '[unsampled]')) or 1)"
}
# from_caller SERVICE FUNCTION CALLERS: the part of the samples in FUNCTION whose next frame is one
# of CALLERS (a|b).
from_caller() {
  profile "{board=\"$ARCH\",service=\"$1\"}" -d format=folded |
    awk -v f="$2" -v c="^($3)\$" '{ weight = $NF; sub(/ [0-9]+$/, ""); n = split($0, frame, ";")
                               for (i = n; i > 0 && frame[i] ~ /^\[/; i--); all += (frame[i] == f) * weight; good += (frame[i] == f && frame[i - 1] ~ c) * weight }
                             END { print all ? good / all : 0 }'
}
between() { awk -v x="$1" -v low="$2" -v high="$3" 'BEGIN { exit !(x >= low && x <= high) }'; }
