# SPDX-License-Identifier: Apache-2.0
# Sourced before lib.sh by a promise that holds for every user: root runs the script as an ordinary
# user first, then as itself; with AT_ONCE=1, where it mostly waits, as both at once: each has a
# daemon and a collector of its own.  What failed for one of them has failed, whatever the other could not run.
# With AS_ORDINARY=1, where rights should make no difference, root runs it as an ordinary user alone, who has the fewest;
# with TORTURE_LONG=1 as both all the same.
. "$(dirname "$0")/ordinary_user.sh"
if [ "$(id -u)" = 0 ] && [ -z "${FLEETPROF_AS_USER:-}" ]; then
  [ -z "${AS_ORDINARY:-}" ] || [ -n "${TORTURE_LONG:-}" ] || { again_as_ordinary; exit; }
  if [ -n "${AT_ONCE:-}" ]; then
    said=$(mktemp "${TMPDIR:-/tmp}/fleetprof-users.XXXXXX")
    again_as_ordinary >"$said" 2>&1 &
    FLEETPROF_AS_USER=0 "$0"
    code=$?
    wait $!
    theirs=$?
    [ $theirs != 0 ] && { [ $code = 0 ] || [ $code = 77 ]; } && code=$theirs
    cat "$said"
    rm -f "$said"
    exit $code
  fi
  again_as_ordinary || exit
fi
echo "as uid $(id -u)"
