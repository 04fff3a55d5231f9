#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The page's cost in a browser; flame.mjs describes the figures.
#
#   tests/bench/flame.sh [BUILD [NODES [STORE]]]
#
# BUILD must be configured with tests, which installs the browser's driver; the browser is Debian's
# chromium. STORE is a data folder filled by BUILD/tests/bench/month_store (usage in its header);
# the budget refers to a week of 100 boards. With STORE, it also measures the first view of a
# collector that has just started.
set -eu
cd "$(dirname "$0")/../.."
build=${1:-build-dev}
exec node tests/bench/flame.mjs "$build/web" "${2:-100000}" ${3:+"$build/collector/fleetprof-collector" "$3"}
