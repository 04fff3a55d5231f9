#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The debug information of a program may be in zstd, in .dwo files, in a .dwp of them, or partly in
# a file made by dwz. A local report reads all of these in place, and names a missing file. Debug
# information may name any path: other files are not opened, and nothing waits for a FIFO.
. "$(dirname "$0")/lib.sh"
export FLEETPROF_CONFIG=
cat >"$W/app.c" <<'C'
static inline __attribute__((always_inline)) long within(volatile long n) { while (n > 0) n--; return n; }
__attribute__((noipa)) static long around(long n) { long m = within(n); __asm__ volatile(""); return m; }
int main(void) { for (int i = 0; i < 4; i++) if (around(60000000) != 0) return 1; return 0; }
C
cd "$W" || fail "no folder"
compile() { # FOLDER OPTION...: FOLDER/app, compiled there
  local folder=$1
  mkdir -p "$folder"
  (cd "$folder" && cc -O2 -g "${@:2}" -c ../app.c -o app.o && cc -Wl,--build-id=sha1 app.o -o app) || fail "cc ${*:2}"
}
sampled() { # FOLDER [COMMAND...]: runs FOLDER/app and keeps no name of it
  fleetprof run --output "$1/app.fp" --hz 499 --sampler timer -- "$1/app" >/dev/null || fail "$1 ended with $?"
}
has_inlined() { fleetprof report "$1/app.fp" -f folded 2>/dev/null | grep -q 'around;within [0-9]'; }
reason() { fleetprof report -v "$1/app.fp" 2>&1 >/dev/null; }
reads() { # FOLDER WHAT
  sampled "$1"
  has_inlined "$1" || fail "$2: no inlined function: $(reason "$1")"
  say "$2: read"
}
lacks() { # FOLDER WHAT WORDS
  timeout 60 fleetprof run --output "$1/app.fp" --hz 499 --sampler timer -- "$1/app" >/dev/null || fail "$2: run ended with $?"
  has_inlined "$1" && fail "$2: was read"
  fleetprof report "$1/app.fp" -f folded 2>/dev/null | grep -q 'around [0-9]' || fail "$2: not even the symbol table is read"
  reason "$1" | grep -q "$3" || fail "$2: the reason is not told: $(reason "$1")"
  say "$2: $(reason "$1" | grep "$3" | sed 's/.*of all: //')"
}

if objcopy --help | grep -q zstd; then
  compile packed
  objcopy --compress-debug-sections=zstd packed/app
  reads packed "zstd"
else
  without zstd "objcopy cannot pack it"
fi

for version in 4 5; do
  compile split$version -gsplit-dwarf -gdwarf-$version
  reads split$version "a .dwo file of DWARF $version where it was compiled"
done
compile built -gsplit-dwarf
mkdir -p moved && mv built/app built/app.dwo moved/ && rm -r built
reads moved "a .dwo file that was moved together with the program"
compile package -gsplit-dwarf -gdwarf-4
if (cd package && timeout 20 dwp app.dwo -o app.dwp 2>/dev/null); then
  rm package/app.dwo
  reads package "a .dwp file beside the program"
else
  without .dwp "there is no dwp that makes one"
fi
compile gone -gsplit-dwarf
rm gone/app.dwo
lacks gone "a .dwo file that is not there" "split DWARF: app.dwo is not there"
compile fifo -gsplit-dwarf
rm fifo/app.dwo && mkfifo fifo/app.dwo
lacks fifo "a FIFO in its place" "split DWARF: app.dwo is not there"
compile secret -gsplit-dwarf
rm secret/app.dwo && ln -s /etc/shadow secret/app.dwo
lacks secret "another file in its place" "split DWARF: app.dwo is not there"
if [ "$(id -u)" = 0 ]; then
  compile private -gsplit-dwarf
  chmod 600 private/app.dwo && chown 65534 private/app
  lacks private "a private file of another user" "split DWARF: app.dwo is not there"
fi

if command -v dwz >/dev/null; then
  compile one && compile two -DOTHER
  dwz -m common.debug -r one/app two/app 2>/dev/null || fail "dwz ended with $?"
  reads one "a common file by dwz"
  mv common.debug elsewhere
  lacks two "a common file that is not there" "dwz: .*common.debug is not there"
else
  without dwz "it is not installed"
fi
exit 0
