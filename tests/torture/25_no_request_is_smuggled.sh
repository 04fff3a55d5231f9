#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Requests that two servers could parse differently: each gets 400 and the connection ends, so data
# behind it is never parsed as a request. The same for all of them cut in two at every byte, and,
# over TLS, for a server that requires tokens.
. "$(dirname "$0")/lib.sh"
start_collector
PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$(dirname "$0")/door/smuggle.py" "127.0.0.1:$H" ${TORTURE_LONG:+long} || fail "plain HTTP"
kill -0 "$COLLECTOR" || fail "the collector has ended"
