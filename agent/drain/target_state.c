/* SPDX-License-Identifier: Apache-2.0 */
/* The description of a target, as shown in `status`, in each batch, and to the collector. The
   sentence has up to three parts, newest first, because a reader with little room shows its
   beginning. They are: full counters; what is no longer sampled (from the census and the state of
   the events); and why no better sampler was chosen at the start. */
#include "target_state.h"
#include "histogram_drain.h"

#include "perf/perf_ring.h"
#include "proto/batch.h"
#include "ring/ring_clock.h"
#include "targets/targets.h"

#include <stdio.h>

uint64_t target_none_since_ns(const struct target *target) {
  struct census_figures census;
  census_figures(target, &census);
  if (target->held.kind == HOLD_TIMER) return census.blind_since_ns;
  bool is_none = target->is_unmapped || target->look.stopped != NULL ||
                 target->bad_events == target->held.fd_count;
  return is_none ? target->bad_since_ns : 0;
}

const char *target_sampler(const struct target *target) {
  static const char *const names[] = {[HOLD_PERF] = "perf", [HOLD_BOARD] = "system"};
  if (target_none_since_ns(target) != 0) return "none";
  return target->held.kind == HOLD_TIMER ? ring_clock_sampler(target->held.clock)
                                         : names[target->held.kind];
}

/* The agent's own counts are available before the first look, and after its threads have ended. */
static void count_unsampled(const struct target *target, struct census_figures *ret) {
  census_figures(target, ret);
  bool has_ring = target->held.kind == HOLD_TIMER;
  uint32_t cramped = has_ring ? ring_reader_cramped(&target->ring) : 0;
  if (ret->unsampled[UNSAMPLED_CRAMPED] < cramped) ret->unsampled[UNSAMPLED_CRAMPED] = cramped;
  if (target->look.is_replaced && ret->unsampled[UNSAMPLED_EXEC] == 0)
    ret->unsampled[UNSAMPLED_EXEC] = 1;
}

void target_explain_unsampled(const struct target *target, char why[CENSUS_WHY_BYTES]) {
  struct census_figures census;
  count_unsampled(target, &census);
  census_explain(&census, why);
}

uint32_t target_unsampled_marks(const struct target *target) {
  struct census_figures census;
  if (target->held.behind != 0) return 0;
  bool is_unreached = target_none_since_ns(target) != 0;
  count_unsampled(target, &census);
  for (unsigned i = UNSAMPLED_RAW; i < UNSAMPLED_REASONS; i++)
    is_unreached |= i != UNSAMPLED_CRAMPED && census.unsampled[i] > 0;
  return (is_unreached ? MARK_UNREACHED : 0) |
         (census.unsampled[UNSAMPLED_CRAMPED] > 0 ? MARK_NO_ROOM : 0);
}

double target_unsampled_share(const struct target *target) {
  bool is_timer = target->held.kind == HOLD_TIMER;
  uint64_t billed_ns = target->exit.billed_ns - target->exit.perf_ns;
  uint64_t rest_ns = is_timer ? billed_ns : target->residual.reported_rest_ns;
  uint64_t all_ns = is_timer ? target->weight_ns + billed_ns : residual_own_ns(&target->residual);
  return rest_ns < all_ns ? (double)rest_ns / (double)all_ns : all_ns > 0 ? 1.0 : 0.0;
}

/* Faults since the start. */
static void explain_news(const struct target *target, char why[CENSUS_WHY_BYTES]) {
  target_explain_unsampled(target, why);
  if (target->is_unmapped)
    snprintf(why, CENSUS_WHY_BYTES, "not sampled any more: perf: %s", target->perf->why);
  else if (target->look.stopped != NULL)
    snprintf(why, CENSUS_WHY_BYTES, "not sampled any more: perf: %s", target->look.stopped);
  else if (target->bad_events > 0)
    snprintf(why, CENSUS_WHY_BYTES,
             "not sampled any more by %u of %u events: perf: an event went bad", target->bad_events,
             target->held.fd_count);
  else if (target->rate.apart_fault != NULL)
    snprintf(why, CENSUS_WHY_BYTES, "its threads keep the rate that they began with: %s",
             target->rate.apart_fault);
  size_t len = strlen(why);
  if (target->look.step_fault != NULL && len < CENSUS_WHY_BYTES)
    snprintf(why + len, CENSUS_WHY_BYTES - len, "%sperf cannot help: %s", len > 0 ? "; " : "",
             target->look.step_fault);
}

void target_explain(const struct target *target, char *why, size_t len) {
  char news[CENSUS_WHY_BYTES], counters[CENSUS_WHY_BYTES];
  const char *const parts[] = {counters, news, target->held.why};
  size_t used = 0;
  explain_news(target, news);
  histogram_drain_explain(target, counters, sizeof counters);
  *why = '\0';
  /* The news first: the older part is truncated. */
  for (unsigned i = 0; i < sizeof parts / sizeof *parts && used < len; i++)
    if (parts[i][0] != '\0')
      used += (size_t)snprintf(why + used, len - used, "%s%s", used > 0 ? "; " : "", parts[i]);
}
