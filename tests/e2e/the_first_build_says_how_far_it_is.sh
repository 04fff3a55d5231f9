#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Steps that take minutes on a bare machine show their progress: a line each fifth, or one changing
# line on a terminal. Without the page no Node is installed.
. "$(dirname "$0")/lib.sh"
root=$(cd "$(dirname "$0")/../.." && pwd)
terminal() { /usr/bin/python3 "$root/tests/e2e/on_terminal.py" 80 "$@"; }
cd "$root" || exit 1
for i in $(seq 100); do echo "dlstatus:$i:$i.5:Retrieving file $i of 100"; done >"$W/said"
for i in $(seq 0 100); do printf 'Setting up x%d (1.0) ...\npmstatus:libx%d:amd64:%d.123:Installing libx%d (amd64)\n' "$i" "$i" "$i" "$i"; done >>"$W/said"
for i in $(seq 100); do printf '[%3d%%] Building C object x%d.c.o\nnpm warn: 7%%\n' "$i" "$i"; done >>"$W/said"
show="bash -euo pipefail -c '. deploy/packages/progress.sh; show_progress <\"$W/said\"'"
eval "$show" >"$W/out" || fail "it ends with $?"
[ "$(paste -sd, "$W/out")" = "$(for what in fetched installed built; do for i in 20 40 60 80 100; do echo "  $what $i %"; done; done | paste -sd,)" ] ||
  fail "not a line each fifth: $(cat "$W/out")"
eval "TERM=vt100 terminal $show" >"$W/out" || fail "it ends with $? on a terminal"
[ "$(grep -c '' "$W/out")" -le 1 ] || fail "more than one line on a terminal: $(cat "$W/out")"
for shown in 'fetched 33 %' 'installed 77 %' 'built 100 %'; do grep -q "$shown" "$W/out" || fail "a terminal is not shown $shown"; done
[ "$(tail -c 4 "$W/out")" = $'\r\e[K' ] || fail "a terminal keeps the line"
eval "TERM=dumb terminal $show" >"$W/out" && grep -qx '  built 60 %' "$W/out" || fail "nothing on a dumb terminal: $(cat "$W/out")"

# On a machine where nothing is installed; the packages requested of apt, with and without the page.
asked() { # PAGE
  bash -euo pipefail -c '. deploy/packages/install.sh
    dpkg-query() { return 1; }
    has_node() { return 1; }
    command() { [ "$2" = sudo ] || builtin command "$@"; }
    with_apt() { return 0; }
    has_page=$1 && install_packages build quickstart' - "$1"
}
asked yes | grep -q '^installing .* nodejs npm' || fail "the page without Node: $(asked yes)"
[[ $(asked '') == *gcc* && $(asked '') != *node* ]] || fail "Node without the page: $(asked '')"
# A failed apt is no success.
bash -c 'as_root=(false); . deploy/packages/install.sh; with_apt install' && fail "apt's failure is lost"
# apt closes its progress descriptor for the scripts of packages, which need a descriptor to write
# to.
mkdir "$W/bin"
cat >"$W/bin/apt-get" <<'END'
#!/bin/sh
[ "$*" = "-qq -o Dpkg::Use-Pty=0 -o APT::Status-Fd=3 install x" ] || exit 3
echo pmstatus:x:61.5:Installing x >&3 && exec /bin/sh -c 'echo "Setting up x"' 3>&-
END
chmod +x "$W/bin/apt-get"
said=$(PATH=$W/bin:$PATH bash -c 'as_root=(env); . deploy/packages/install.sh; with_apt install x') || fail "a package that says something fails"
[ "$said" = "  installed 61 %" ] || fail "instead of its progress: $said"
exit 0
