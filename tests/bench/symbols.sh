#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Speed and size of symbol indexes beside addr2line, llvm-symbolizer and eu-addr2line: seconds,
# memory and bytes of making an index, seconds to the first name of a new file, and lookups of whole
# inline chains a second when warm.
#
#   tests/bench/symbols.sh [BUILD [FILE...]]
#
# FILE has debug information. Default: Debian's python3.11 and libc by their -dbg packages, and the
# files of symbols_agree.sh. A vmlinux with debug information (linux-image-*-dbg) may be a FILE.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
build=$(realpath "${1:-$top/build}")
shift
program=$build/tests/bench/symbol_index
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
asked=20000 # questions to the others, which are slow
rounds=15   # of a first name

debug_file_of() {
  local id
  id=$(readelf -n "$1" 2>/dev/null | sed -n 's/.*Build ID: //p')
  echo "/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug"
}

if [ $# -eq 0 ]; then
  libc=$(ldd /bin/sh | sed -n 's/.*=> \(.*libc\.so\.6\) .*/\1/p')
  set -- "$build/symbols/redis-server" "$(debug_file_of /usr/bin/python3.11)" "$(debug_file_of "$libc")" \
    "$build/symbols/inlines_cc" "$build/symbols/inlines_rs"
fi

# Random addresses of the text of FILE, COUNT of them.
addresses() {
  python3 - "$1" "$2" <<'END'
import random, subprocess, sys
random.seed(4711)
for line in subprocess.run(["readelf", "-SW", sys.argv[1]], capture_output=True, text=True).stdout.splitlines():
    fields = line.split("]", 1)[-1].split()
    if len(fields) > 7 and fields[0] == ".text":
        start, size = int(fields[2], 16), int(fields[4], 16)
        print("\n".join(f"{start + random.randrange(size):#x}" for _ in range(int(sys.argv[2]))))
END
}

# A kernel's addresses are less _text in an index.
base_of() {
  nm "$1" 2>/dev/null | awk '$3 == "start_kernel" { kernel = 1 } $3 == "_text" { text = $1 } END { print kernel ? text : 0 }'
}

seconds() { # of the command, with its input on stdin
  local start end
  start=$(date +%s%N)
  "$@" >/dev/null 2>&1
  end=$(date +%s%N)
  awk -v ns=$((end - start)) 'BEGIN { printf "%.4f\n", ns / 1e9 }'
}

# Each in turn, a new address a round, so that none is lucky with its place or its moment.
first_names() { # FILE BASE
  local round address
  rm -f "$work"/first-*
  for ((round = 1; round <= rounds; round++)); do
    address=$(sed -n "${round}p" "$work/addresses")
    seconds "$program" first "$1" "$work/symbols" "$2" <<<"$address" >>"$work/first-ours"
    seconds addr2line -fi -e "$1" <<<"$address" >>"$work/first-addr2line"
    seconds llvm-symbolizer -i --obj="$1" <<<"$address" >>"$work/first-llvm-symbolizer"
    seconds eu-addr2line -fi -e "$1" <<<"$address" >>"$work/first-eu-addr2line"
  done
  echo "  first name, ms, median of $rounds [least, most]: ours $(spread ours), addr2line $(spread addr2line)," \
    "llvm-symbolizer $(spread llvm-symbolizer), eu-addr2line $(spread eu-addr2line)"
}
spread() { sort -n "$work/first-$1" | awk '{ ms[NR] = 1000 * $1 } END { printf "%.0f [%.0f, %.0f]", ms[int((NR + 1) / 2)], ms[1], ms[NR] }'; }

for file; do
  [ -f "$file" ] || { echo "symbols: $file is missing"; continue; }
  base=$(base_of "$file")
  addresses "$file" 1000000 >"$work/addresses"
  head -n $asked "$work/addresses" >"$work/some"
  "$program" make "$file" "$work/index"
  first_names "$file" "$base"
  echo "  warm, of CPU time: ours $("$program" speed "$work/index" "$base" <"$work/addresses")"
  for other in "addr2line -fi -e $file" "llvm-symbolizer -i --obj=$file" "eu-addr2line -fi -e $file"; do
    took=$(seconds timeout 300 $other <"$work/some")
    awk -v name="${other%% *}" -v took="$took" -v asked=$asked \
      'BEGIN { printf "  %s: %.4f M/s (%d questions, opening counted)\n", name, asked / took / 1e6, asked }'
  done
done
