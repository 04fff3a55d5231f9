#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Uploaded files are served to debuginfod's own clients and to gdb, byte for byte, in part and
# whole, with and without TLS; files from a single board are not served.
. "$(dirname "$0")/lib.sh"
start_collector
cp "$targets/truth" "$W/whole"
objcopy --only-keep-debug "$W/whole" "$W/debug"
objcopy --strip-all "$W/whole" "$W/stripped"
id=$(readelf -n "$W/whole" | awk '/Build ID/ { print $3 }')
symbols=$(fleetprof-collector token --data "$W/data" --role symbols)
put() { curl -fs -T "$1" -H "Authorization: Bearer $symbols" "http://127.0.0.1:$H/api/v1/debug/$id" >/dev/null; }
served() { curl -s -o "$W/served" -w '%{http_code}' "$@"; }
buildid=http://127.0.0.1:$H/buildid

# A single board's word is not enough.
enroll board1
run --service truth --hz 499 -- "$W/whole" 0.2 >/dev/null || fail "truth ended with $?"
is_here() { api debug | json "any(m['build_id'] == '$id' and m['quality'] in ('symtab', 'dwarf') for m in d['modules'])" | grep -q yes; }
until_true 10 is_here || fail "the board's file is not here: $(api debug)"
[ "$(served "$buildid/$id/debuginfo")" = 404 ] || fail "a single board's file is served"

put "$W/debug" || fail "the debug file is refused"
put "$W/stripped" || fail "the stripped file is refused"
for pair in debuginfo:debug executable:stripped; do
  [ "$(served "$buildid/$id/${pair%:*}")" = 200 ] || fail "$pair: $(cat "$W/served")"
  cmp "$W/served" "$W/${pair#*:}" || fail "$pair differs"
done
curl -fsI "$buildid/$id/debuginfo" | tr -d '\r' | grep -qi "^x-debuginfod-size: $(stat -c %s "$W/debug")$" || fail "HEAD tells no size"
for path in "$id/source/etc/passwd" "$id/source/%2Fetc%2Fpasswd" "$id/section/.none" "$id/" "00$id/debuginfo"; do
  [ "$(served "$buildid/$path")" = 404 ] || fail "$path: $(cat "$W/served")"
done
[ "$(served "$buildid/xyz/debuginfo")" = 400 ] || fail "no number is an id"

section() { readelf -SW "$W/$1" 2>/dev/null | sed 's/^ *\[ *[0-9]*\] *//' | awk -v n="$2" '$1 == n { print $4, $5 }'; }
read -r at size < <(section debug .debug_info)
dd if="$W/debug" of="$W/info" bs=1 skip=$((0x$at)) count=$((0x$size)) 2>/dev/null
[ "$(served "$buildid/$id/section/.debug_info")" = 200 ] && cmp "$W/served" "$W/info" || fail "section .debug_info differs"
read -r at size < <(section stripped .text)
dd if="$W/stripped" of="$W/text" bs=1 skip=$((0x$at)) count=$((0x$size)) 2>/dev/null
[ "$(served "$buildid/$id/section/.text")" = 200 ] && cmp "$W/served" "$W/text" || fail "section .text differs"

export DEBUGINFOD_URLS=http://127.0.0.1:$H DEBUGINFOD_CACHE_PATH=$W/cache HOME=$W
if command -v debuginfod-find >/dev/null; then
  cmp "$(debuginfod-find debuginfo "$id")" "$W/debug" || fail "debuginfod-find got another file"
  cmp "$(debuginfod-find executable "$id")" "$W/stripped" || fail "debuginfod-find got another program"
  debuginfod-find source "$id" /etc/passwd >/dev/null 2>&1 && fail "a source from the file system"
else
  without debuginfod-find "package debuginfod"
fi
if command -v gdb >/dev/null; then
  rm -rf "$W/cache"
  line=$(gdb -nx -batch -ex 'set debuginfod enabled on' -ex 'file '"$W/stripped" -ex 'info line alpha_sixty' 2>&1 | grep '^Line')
  case $line in *truth.c*) say "gdb: $line" ;; *) fail "gdb has no line: $line" ;; esac
else
  without gdb "package gdb"
fi

# The same through TLS, where a token is needed.
stop_collector
H=$(port)
fleetprof-collector --data "$W/data" --agents "127.0.0.1:$A" --http "0.0.0.0:$H" >>"$W/collector.log" 2>&1 &
COLLECTOR=$!
tls() { served -k -H "Authorization: Bearer $1" "https://127.0.0.1:$H/buildid/$id/$2"; }
until_true 10 curl -fsk -o "$W/served" "https://127.0.0.1:$H/healthz" || fail "no TLS"
read=$(fleetprof-collector token --data "$W/data" --role read)
[ "$(tls "none" debuginfo)" = 401 ] || fail "served without a token"
[ "$(tls "$read" debuginfo)" = 200 ] && cmp "$W/served" "$W/debug" || fail "through TLS it differs"
[ "$(tls "$read" section/.debug_info)" = 200 ] && cmp "$W/served" "$W/info" || fail "through TLS the section differs"

# So do debuginfod's own clients, as in docs/upload.md: with the fleet's CA installed, and the token
# in a file of headers.
echo "Authorization: Bearer $read" >"$W/headers"
roots=/etc/ssl/certs/ca-certificates.crt
cat "$roots" "$W/data/ca/root.pem" >"$W/roots.pem" 2>/dev/null
trusting() { # COMMAND...: with the system's root certificates and the fleet's
  unshare -m sh -c 'mount --bind "$1" "$2" && shift 2 && exec "$@"' - "$W/roots.pem" "$roots" \
    env DEBUGINFOD_URLS="https://localhost:$H" DEBUGINFOD_HEADERS_FILE="$W/headers" DEBUGINFOD_CACHE_PATH="$W/tls" "$@"
}
if ! trusting true 2>/dev/null; then
  without "debuginfod-find over TLS" "a mount of its own is refused"
elif command -v debuginfod-find >/dev/null; then
  cmp "$(trusting debuginfod-find debuginfo "$id")" "$W/debug" || fail "over TLS debuginfod-find got another file"
  DEBUGINFOD_URLS="https://localhost:$H" DEBUGINFOD_HEADERS_FILE="$W/headers" DEBUGINFOD_CACHE_PATH="$W/tls2" debuginfod-find debuginfo "$id" >/dev/null 2>&1 &&
    fail "a CA that nobody trusts is believed"
  if command -v gdb >/dev/null; then
    line=$(trusting gdb -nx -batch -iex 'set debuginfod enabled on' -ex 'info line alpha_sixty' "$W/stripped" 2>&1 | grep '^Line')
    case $line in *truth.c*) say "gdb over TLS: $line" ;; *) fail "gdb over TLS has no line: $line" ;; esac
  fi
fi
