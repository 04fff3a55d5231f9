# SPDX-License-Identifier: Apache-2.0
# Sourced after lib.sh by tests of queries with or without a waiting client.
door=$(dirname "${BASH_SOURCE[0]}")/../torture/door
python() { PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$@"; }
LONG=${LONG:-300} # seconds for answers that are immediate on an idle machine: only a limit against hanging
metric() { curl -fs "http://127.0.0.1:$H/metrics" | awk -v m="$1" '$1 == m { print $2 }'; }
is_metric() { [ "$(metric "$1")" = "$2" ]; }
answered() { metric 'fleetprof_http_requests_total{method="GET",route="/api/v1/profile",status="2xx"}'; }
are_asked() { [ $(($(metric fleetprof_queries_waiting) + $(metric fleetprof_queries_running))) = "$1" ]; }
