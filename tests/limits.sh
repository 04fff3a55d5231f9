#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The house rules that a script can check: sizes of files and functions, SPDX lines, banned calls,
# banned file names, the preload's includes. Layering itself is enforced by the compiler
# (cmake/modules.cmake). Prints each breach; non-zero if there is one.
set -u
cd "$(dirname "$0")/.."
breaches=0
breach() { echo "$*"; breaches=$((breaches + 1)); }

sources=$(git ls-files '*.c' '*.h' 2>/dev/null || find agent collector common fetch proto tests -name '*.[ch]')
sources=$(for file in $sources; do [ ! -f "$file" ] || echo "$file"; done)
# Shell, CMake, web and schema files carry the line too (a script has it below its #! line).
others=$(git ls-files '*.sh' '*.cmake' '*CMakeLists.txt' '*.proto' '*.js' '*.mjs' '*.css' '*.ts' '*.tsx' 2>/dev/null)

found=$(awk '
  function over(lines, max, what) { if (lines > max) print file ": " lines " lines; " what " has at most " max }
  function ends() {
    if (file ~ /\.h$/) over(lines, 200, "a header")
    if (file ~ /\.c$/) over(lines, 1000, "a source file or a test")
  }
  FNR == 1 {
    ends()
    file = FILENAME
    if ($0 != "/* SPDX-License-Identifier: Apache-2.0 */") print file ": no SPDX line"
  }
  length($0) > 100 { print file ":" FNR ": " length($0) " columns; at most 100" }
  { lines = FNR }
  END { ends() }' $sources
  for file in $others; do
    { read -r first; read -r second; } <"$file"
    [[ "$first $second" == *'SPDX-License-Identifier: Apache-2.0'* ]] || echo "$file: no SPDX line"
  done)
[ -z "$found" ] || { echo "$found"; breaches=$(wc -l <<<"$found"); }

banned='\b(strcpy|strcat|sprintf|vsprintf|gets|atoi|atol|strtok|alloca|tmpnam|mktemp)[[:space:]]*\('
found=$(grep -nE "$banned" $sources | grep -vE '^[^:]+:[0-9]+: *(\*|/\*|//)' || true)
[ -z "$found" ] || { echo "$found"; breach "banned calls (use snprintf, memcpy, strtoul...)"; }

found=$(printf '%s\n' $sources | grep -E '(^|/)(util|utils|misc|helper|helpers|common|manager|data|info|handle|process)\.[ch]$' || true)
[ -z "$found" ] || breach "$found: a file is named after its noun"

found=$(grep -nE '\b(TODO|FIXME|XXX|HACK)\b' $sources || true)
[ -z "$found" ] || { echo "$found"; breach "debt is not committed"; }

# Libraries stay where they belong: HEADERS | FOLDERS that may include them.  (Our own headers are
# kept apart by the compiler.)
while IFS='|' read -r headers folders; do
  headers=$(echo $headers) folders=$(echo $folders)
  found=$(grep -nE "#include <($headers)" $sources | grep -vE "^(tests/|$folders)" || true)
  [ -z "$found" ] || { echo "$found"; breach "$headers is included outside $folders"; }
done <<'TABLE'
event2/                  | agent/daemon/|agent/uplink/|collector/ingest/|collector/http/|collector/main.c|collector/reload.c
openssl/                 | common/tls|fetch/|agent/upload/|agent/daemon/|agent/uplink/|agent/credentials/|agent/elf/|agent/cli/|collector/identity/|collector/ingest/|collector/http/|collector/store/|collector/names/|collector/backup/
sqlite3.h                | collector/sqlite/|collector/identity/|collector/store/|collector/names/
zstd.h                   | proto/compress
zlib.h                   | agent/tables/|collector/view/|collector/http/
protobuf-c/              | proto/
seccomp.h                | collector/symbol/
libelf.h                 | collector/symbol/
gelf.h                   | collector/symbol/
elfutils/                | collector/symbol/
dwarf.h                  | collector/symbol/
ini.h                    | common/options
cjson/                   | agent/cli/|agent/upload/
archive                  | agent/upload/
TABLE
found=$(grep -nE '#include "(.*/)?profile\.pb-c\.h"' $sources | grep -vE '^(tests/unit/)?proto/' || true)
[ -z "$found" ] || { echo "$found"; breach "generated code is seen outside proto/"; }

# The handler runs in foreign processes: its files include no part of libc that runs code.
for file in agent/preload/sampler.c agent/unwind/*.c agent/ring/*_writer.c agent/preload/arch_*.c; do
  [ -f "$file" ] || continue
  found=$(grep -nE '#include <(stdio|stdlib|pthread|malloc|syslog)\.h>' "$file" || true)
  [ -z "$found" ] || breach "$file: $found"
done

if command -v ctags >/dev/null; then
  found=$(ctags -x --c-kinds=f --fields=+ne --_xformat='%N %n %{end} %F' $sources 2>/dev/null |
    awk '$3 - $2 + 1 > 70 { print $4 ":" $2 " " $1 ": " ($3 - $2 + 1) " lines; a function has at most 70" }')
  [ -z "$found" ] || { echo "$found"; breach "functions too long"; }
fi

[ "$breaches" = 0 ] && echo "no breach in $(printf '%s\n' $sources | wc -l) files" || { echo "$breaches breaches"; exit 1; }
