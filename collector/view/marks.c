/* SPDX-License-Identifier: Apache-2.0 */
/* A mark is reported once a service, with its highest certainty. The question is whether these
   shares are reliable, not in which of a thousand windows they were unreliable.

   Lock step: the kernel notices a CPU-time timer's expiry at its tick. The sample shows the thread
   at the tick, not at the expiry. That is unbiased if ticks fall anywhere in the program's bursts,
   and biased if the program keeps step with the tick; the total is right in either case. The other
   kinds are: stacks that were cut; recordings that ended before the program; perf events that can
   no longer be changed; histograms with wide bins or full counters; time while the program was
   paused; recorders, which do not sample the run at random; threads and processes without samples.
   Each kind has its own row.

   Services are few, so the list is searched from its start. */
#include "marks.h"

#include "common/arena.h"
#include "proto/batch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct view_mark *find(const struct marks *marks, const char *service) {
  for (uint32_t i = 0; i < marks->count; i++)
    if (strcmp(marks->rows[i].service, service) == 0) return &marks->rows[i];
  return NULL;
}

int marks_add(struct marks *marks, const char *service, uint32_t bits) {
  bits &= ~(uint32_t)MARK_ENDS_TOLD; /* no doubt; used in the tree (stacks.h) */
  if (bits == 0) return 0;
  if (service == NULL) service = "";
  struct view_mark *row = find(marks, service);
  if (row != NULL) {
    row->marks |= bits;
    return 0;
  }
  if (marks->count == MARKS_SERVICES_MAX) return 0;
  if (marks->rows == NULL) marks->rows = calloc(MARKS_SERVICES_MAX, sizeof *marks->rows);
  char *copy = marks->rows != NULL ? strdup(service) : NULL;
  if (copy == NULL) return -ENOMEM;
  marks->rows[marks->count++] = (struct view_mark){copy, bits};
  return 0;
}

/* Bits reported together. */
static const uint32_t kinds[] = {MARK_LOCK_STEP_POSSIBLE | MARK_LOCK_STEP_LIKELY,
                                 MARK_STACKS_CUT,
                                 MARK_WENT_ON,
                                 MARK_STALE_RATE,
                                 MARK_COARSE_BINS,
                                 MARK_FULL_COUNTERS,
                                 MARK_PAUSED,
                                 MARK_LAST_MOMENTS,
                                 MARK_NO_ROOM,
                                 MARK_UNREACHED,
                                 MARK_SHORT_LIVES};
enum { KINDS = sizeof kinds / sizeof *kinds };

int marks_copy(const struct marks *marks, struct arena *arena, const struct view_mark **ret,
               uint32_t *ret_count) {
  struct view_mark *rows = arena_array(arena, (size_t)marks->count * KINDS, sizeof *rows);
  uint32_t count = 0;
  if (rows == NULL) return -ENOMEM;
  for (uint32_t i = 0; i < marks->count; i++) {
    const char *service =
        arena_string(arena, marks->rows[i].service, strlen(marks->rows[i].service));
    if (service == NULL) return -ENOMEM;
    for (unsigned kind = 0; kind < KINDS; kind++) {
      uint32_t bits = marks->rows[i].marks & kinds[kind];
      if (bits != 0) rows[count++] = (struct view_mark){service, bits};
    }
  }
  *ret = rows;
  *ret_count = count;
  return 0;
}

void marks_fini(struct marks *marks) {
  for (uint32_t i = 0; i < marks->count; i++) free((char *)(uintptr_t)marks->rows[i].service);
  free(marks->rows);
}

struct mark_text marks_text(uint32_t bits) {
  static const struct mark_text possible = {
      "lock_step", "possible",
      "sampled by timer, in bursts shorter than the kernel's tick: shares may be wrong if the "
      "bursts keep step with the tick; the total is right; the perf sampler has no such error"};
  static const struct mark_text likely = {
      "lock_step", "likely",
      "sampled by timer, in bursts that keep step with the kernel's tick: shares within the "
      "service are likely wrong; the total is right; the perf sampler has no such error"};
  static const struct mark_text cut = {
      "stacks_cut", "seen",
      "some stacks end before their first function: they are deeper than can be kept, or the frame "
      "pointer led astray; who was running is right, who had called it is not always known"};
  static const struct mark_text went_on = {
      "went_on", "seen",
      "processes of the program went on in the background when the recording ended: what they did "
      "later is not in it (a daemon goes on with them: fleetprof run without --output)"};
  static const struct mark_text stale = {
      "stale_rate", "seen",
      "threads of the program cannot be given another rate: they are sampled at the one that they "
      "began with, and at one and the same period; shares may be wrong if their work keeps step "
      "with it; the total is right; status says why"};
  static const struct mark_text coarse = {
      "coarse_bins", "seen",
      "counted in bins of more than 16 bytes: in all modules, as asked, or in the largest ones, "
      "because finer bins would take too much memory for so much code: a bin is shown as the "
      "function at its first byte, which may be a neighbour of the one that ran; modules and the "
      "total are right"};
  static const struct mark_text full = {
      "full_counters", "seen",
      "counters of the histogram were full: what they could not count is [unsampled], so the "
      "functions that ran most show too little; the total is right; wider ones do not fill up (run "
      "--counter-bytes 4)"};
  static const struct mark_text paused = {
      "paused", "seen",
      "the program was paused or switched off for a while (ctl pause, a kill-switch file, a "
      "dormant start): the CPU time that it used meanwhile is [unsampled]; the total is right"};
  static const struct mark_text last = {
      "last_moments", "seen",
      "a recorder keeps the last samples of each thread alone: what ran before them is "
      "[unsampled], "
      "or in no total; shares and their intervals are of those moments, not of the whole run (run "
      "--last N keeps more)"};
  static const struct mark_text no_room = {
      "no_room", "seen",
      "threads have stacks without room for a signal, so the timer does not sample them: their CPU "
      "time is [unsampled]; the total is right; larger stacks help (16 KiB are enough), and so "
      "does perf where the kernel allows it (fleetprof doctor)"};
  static const struct mark_text unreached = {
      "unreached", "seen",
      "no sampler reached some threads or processes (the agent was not loaded or lost its signal, "
      "and perf did not take over): their CPU time is [unsampled]; the total is right; fleetprof "
      "status on the board says why; perf helps where the kernel allows it (fleetprof doctor)"};
  static const struct mark_text short_lives = {
      "short_lives", "seen",
      "threads or processes live for a few sampling periods, and perf begins a period anew with "
      "each: what they do first has too few samples, and what follows too many; the total is "
      "right; a higher --hz helps, and so do --sampler timer and root (whole CPUs are sampled)"};
  if (bits & MARK_SHORT_LIVES) return short_lives;
  if (bits & MARK_NO_ROOM) return no_room;
  if (bits & MARK_UNREACHED) return unreached;
  if (bits & MARK_LAST_MOMENTS) return last;
  if (bits & MARK_PAUSED) return paused;
  if (bits & MARK_FULL_COUNTERS) return full;
  if (bits & MARK_COARSE_BINS) return coarse;
  if (bits & MARK_STALE_RATE) return stale;
  if (bits & MARK_STACKS_CUT) return cut;
  if (bits & MARK_WENT_ON) return went_on;
  return bits & MARK_LOCK_STEP_LIKELY ? likely : possible;
}
