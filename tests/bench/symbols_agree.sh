#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares names, files, lines and inline chains of our symbol index with llvm-symbolizer and
# addr2line at random text addresses: redis-server (built -O2 -g), Debian's python3.11 and libc by
# their -dbg packages, a C++ and a Rust program. Exits with 1 if one is below the limits of
# symbols_agree.py.
#
#   tests/bench/symbols_agree.sh [BUILD [ADDRESSES]]
#
# REDIS=PATH names a redis-server with debug information. Default: Debian's source of redis is
# fetched and built (once, in BUILD/symbols).
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
build=$(realpath "${1:-$top/build}")
count=${2:-100000}
work=$build/symbols
program=$build/tests/bench/symbol_index
mkdir -p "$work"
cd "$work" || exit 2

for tool in addr2line llvm-symbolizer g++ rustc; do
  command -v "$tool" >/dev/null || { echo "not run: $tool is missing"; exit 77; }
done

build_redis() {
  mkdir -p lists/partial
  echo "deb-src http://deb.debian.org/debian $(. /etc/os-release && echo "$VERSION_CODENAME") main" >sources.list
  local options="-o Dir::Etc::sourcelist=$work/sources.list -o Dir::Etc::sourceparts=- -o Dir::State::lists=$work/lists"
  apt-get $options -qq update && apt-get $options -qq source redis || return 1
  make -C redis-[0-9]*/src -j2 MALLOC=libc OPTIMIZATION=-O2 BUILD_TLS=no USE_SYSTEMD=no redis-server
  cp redis-[0-9]*/src/redis-server redis-server
}

# The separate debug file of PROGRAM, by its build-id.
debug_file_of() {
  local id
  id=$(readelf -n "$1" 2>/dev/null | sed -n 's/.*Build ID: //p')
  echo "/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug"
}

[ -n "${REDIS:-}" ] && cp "$REDIS" redis-server
[ -f redis-server ] || build_redis >redis.log 2>&1 || echo "symbols_agree: redis cannot be built: $work/redis.log"
g++ -O2 -g -o inlines_cc "$top/tests/bench/inlines.cc" || exit 2
rustc -O -g -o inlines_rs "$top/tests/bench/inlines.rs" || exit 2
libc=$(ldd /bin/sh | sed -n 's/.*=> \(.*libc\.so\.6\) .*/\1/p')

worse=0
for file in redis-server "$(debug_file_of /usr/bin/python3.11)" "$(debug_file_of "$libc")" inlines_cc inlines_rs; do
  [ -f "$file" ] || { echo "symbols_agree: $file is missing"; worse=1; continue; }
  "$program" make "$file" index >/dev/null || { worse=1; continue; }
  "$top/tests/bench/symbols_agree.py" "$program" "$file" index "$count" || worse=1
done
rm -f index
exit $worse
