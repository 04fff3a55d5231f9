#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 38: vfork, posix_spawn, system and popen storms: every child runs, and the parent's memory and
# environment keep their hash; a child of a plain fork is sampled like its parent.
. "$(dirname "$0")/lib.sh"
HZ=10000
SAMPLES=1 # the sampled processes live short: at least one sample
board spawn
same "$torture/spawn_storm" "$(pick 200 50000)"
same bash -c 'for i in $(seq 300); do /bin/true; done; echo $i'
same /usr/bin/python3 -c 'import subprocess
print(sum(subprocess.run(["true"]).returncode for _ in range(30)))'
# The parent waits, so the samples are the children's.
HZ=997
SAMPLES=60 same bash -c 'for child in 1 2 3; do (for ((i = 0; i < 150000; i++)); do :; done; echo $i) & wait; done'
