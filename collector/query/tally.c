/* SPDX-License-Identifier: Apache-2.0 */
/* Each sum stores the last stack counted, to detect a number that occurs twice in one stack
   (recursion). So nothing needs clearing between stacks. */
#include "tally.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 64 };

static int make_room(struct tally *tally, uint32_t number) {
  if (number < tally->room) return 0;
  uint32_t room = tally->room > 0 ? tally->room : FIRST_ROOM;
  while (room <= number) room *= 2;
  struct tally_sum *more = reallocarray(tally->sums, room, sizeof *more);
  if (more == NULL) return -ENOMEM;
  memset(more + tally->room, 0, (room - tally->room) * sizeof *more);
  tally->sums = more;
  tally->room = room;
  return 0;
}

int tally_self(struct tally *tally, uint32_t number, uint64_t count, uint64_t weight) {
  int error = make_room(tally, number);
  if (error != 0) return error;
  tally->sums[number].self += weight;
  tally->sums[number].self_count = sum_of(tally->sums[number].self_count, count);
  return 0;
}

int tally_total(struct tally *tally, uint32_t number, uint64_t stack, uint64_t weight) {
  int error = make_room(tally, number);
  if (error != 0 || tally->sums[number].stack == stack) return error;
  tally->sums[number].stack = stack;
  tally->sums[number].total += weight;
  return 0;
}

void tally_fini(struct tally *tally) {
  free(tally->sums);
  *tally = (struct tally){0};
}
