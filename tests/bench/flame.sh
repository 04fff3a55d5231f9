#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What the page costs a browser: flame.mjs says what.   tests/bench/flame.sh [BUILD [NODES [STORE]]]
# BUILD was configured with tests, which brings the browser's driver; the browser is Debian's chromium.  STORE is a data folder
# that BUILD/tests/bench/month_store has filled (its header says how; a week of 100 boards is what the budget speaks of):
# with it, also what the first view of a collector costs that was started just now.
set -eu
cd "$(dirname "$0")/../.."
build=${1:-build-dev}
exec node tests/bench/flame.mjs "$build/web" "${2:-100000}" ${3:+"$build/collector/fleetprof-collector" "$3"}
