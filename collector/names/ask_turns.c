/* SPDX-License-Identifier: Apache-2.0 */
/* A rate limit on requests for modules. A fleet runs the same firmware, so ten thousand boards that
   connect report the same modules in the same seconds. If the collector requested them from all
   boards at once, all would reply that they have no file, or all would send the same bytes; two
   copies suffice. So each module is requested from at most ASK_TURNS_A_MINUTE boards a minute;
   other boards are asked later if the module is still wanted.

   Modules share a fixed number of counters, by a hash with a secret seed. A module that shares a
   counter is requested a little later. */
#include "ask_turns.h"

#include "common/clock.h"
#include "common/table.h"

#include <stdlib.h>
#include <sys/random.h>

enum { COUNTERS = 4096 };

struct ask_turns {
  uint64_t seed;
  struct turn {
    uint32_t minute, count;
  } turns[COUNTERS];
};

struct ask_turns *ask_turns_new(void) {
  struct ask_turns *turns = calloc(1, sizeof *turns);
  if (turns == NULL) return NULL;
  if (getrandom(&turns->seed, sizeof turns->seed, 0) == sizeof turns->seed) return turns;
  free(turns);
  return NULL;
}

void ask_turns_free(struct ask_turns *turns) {
  free(turns);
}

bool ask_turns_take(struct ask_turns *turns, struct span id, uint64_t now_ns) {
  struct turn *turn = &turns->turns[table_hash(id.data, id.len, turns->seed) % COUNTERS];
  uint32_t minute = (uint32_t)(now_ns / (60 * NS_PER_SECOND));
  if (turn->minute != minute) *turn = (struct turn){.minute = minute};
  if (turn->count == ASK_TURNS_A_MINUTE) return false;
  turn->count++;
  return true;
}
