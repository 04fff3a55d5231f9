#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 30: a program sees no descriptor or thread of ours, closes 0 to 1024 (or all, by close_range), becomes
# a daemon, uses the numbers again: its files stay its own, and data keeps flowing.
. "$(dirname "$0")/lib.sh"
ms=$(pick 300 20000)
board fds
mkdir "$W/files" "$W/more"
SAMPLES=$((ms / 10)) same "$torture/closes_all" "$W/files" "$ms"
SAMPLES=$((ms / 10)) same "$torture/closes_all" "$W/more" "$ms" range
