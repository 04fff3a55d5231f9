#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What the page costs a browser: flame.mjs says what.   tests/bench/flame.sh [BUILD [NODES]]
# BUILD was configured with tests, which brings the browser's driver; the browser is Debian's chromium.
set -eu
cd "$(dirname "$0")/../.."
exec node tests/bench/flame.mjs "${1:-build-dev}/web" "${2:-100000}"
