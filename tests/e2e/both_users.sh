# SPDX-License-Identifier: Apache-2.0
# Sourced before lib.sh by a promise that holds for every user: root runs the script as an ordinary
# user first, then as itself.
. "$(dirname "$0")/ordinary_user.sh"
if [ "$(id -u)" = 0 ] && [ -z "${FLEETPROF_AS_USER:-}" ]; then again_as_ordinary || exit; fi
echo "as uid $(id -u)"
