#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 38: vfork, posix_spawn, system and popen storms: every child runs, and the parent's memory and
# environment hash to what they were.
. "$(dirname "$0")/lib.sh"
HZ=10000
SAMPLES=1 # what is sampled lives short: more than none
board spawn
same "$torture/spawn_storm" "$(pick 200 50000)"
same bash -c 'for i in $(seq 100); do /bin/true; done; echo $i'
same /usr/bin/python3 -c 'import subprocess
print(sum(subprocess.run(["true"]).returncode for _ in range(30)))'
