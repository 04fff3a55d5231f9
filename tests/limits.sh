#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The house rules that a script can see: sizes of files and functions, SPDX lines, banned calls,
# banned file names, what the preload may include.  Layering itself is enforced by the compiler
# (cmake/modules.cmake).  Prints each breach; non-zero when there is one.
set -u
cd "$(dirname "$0")/.."
breaches=0
breach() { echo "$*"; breaches=$((breaches + 1)); }

sources=$(git ls-files '*.c' '*.h' 2>/dev/null || find agent collector common fetch proto tests -name '*.[ch]')
for file in $sources; do
  [ -f "$file" ] || continue
  lines=$(wc -l <"$file")
  case $file in
  *.h) [ "$lines" -le 120 ] || breach "$file: $lines lines; a header has at most 120" ;;
  *.c) [ "$lines" -le 600 ] || breach "$file: $lines lines; a source file or a test has at most 600" ;;
  esac
  head -n 1 "$file" | grep -q '^/\* SPDX-License-Identifier: Apache-2.0 \*/$' || breach "$file: no SPDX line"
  awk -v f="$file" 'length($0) > 100 { print f ":" NR ": " length($0) " columns; at most 100"; bad = 1 } END { exit bad }' "$file" \
    || breaches=$((breaches + 1))
done

# Shell, CMake, web and schema files carry the line too (a script has it below its #! line).
for file in $(git ls-files '*.sh' '*.cmake' '*CMakeLists.txt' '*.proto' '*.js' '*.css' '*.ts' 2>/dev/null); do
  head -n 2 "$file" | grep -q 'SPDX-License-Identifier: Apache-2.0' || breach "$file: no SPDX line"
done

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
event2/                  | agent/daemon/|agent/uplink/|collector/ingest/|collector/http/|collector/main.c
openssl/                 | common/tls|fetch/|agent/upload/|agent/daemon/|agent/uplink/|agent/credentials/|agent/elf/|agent/cli/|collector/identity/|collector/ingest/|collector/http/|collector/store/|collector/names/
sqlite3.h                | collector/identity/|collector/store/|collector/names/
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

# Someone else's process: the handler's files include nothing of libc that runs code.
for file in agent/preload/sampler.c agent/unwind/*.c agent/ring/*_writer.c agent/preload/arch_*.c; do
  [ -f "$file" ] || continue
  found=$(grep -nE '#include <(stdio|stdlib|pthread|malloc|syslog)\.h>' "$file" || true)
  [ -z "$found" ] || breach "$file: $found"
done

if command -v ctags >/dev/null; then
  found=$(for file in $sources; do
    [ -f "$file" ] && ctags -x --c-kinds=f --fields=+ne --_xformat='%N %n %{end} %F' "$file" 2>/dev/null
  done | awk '$3 - $2 + 1 > 70 { print $4 ":" $2 " " $1 ": " ($3 - $2 + 1) " lines; a function has at most 70" }')
  [ -z "$found" ] || { echo "$found"; breach "functions too long"; }
fi

[ "$breaches" = 0 ] && echo "no breach in $(printf '%s\n' $sources | wc -l) files" || { echo "$breaches breaches"; exit 1; }
