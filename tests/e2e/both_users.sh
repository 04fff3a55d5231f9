# SPDX-License-Identifier: Apache-2.0
# Sourced before lib.sh by tests that must hold for every user: root runs the script as an ordinary
# user first, then as itself. With AT_ONCE=1, for tests that mostly wait, both run at once, each
# with its own daemon and collector. A failure of either is a failure of the test, even if the other
# could not run. With AS_ORDINARY=1, where privileges should make no difference, root runs it only
# as an ordinary user, who has the fewest; with TORTURE_LONG=1 as both.
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
