/* SPDX-License-Identifier: Apache-2.0 */
/* A certificate proves a board's identity, not that its data is true. A batch with impossible
   numbers is refused permanently. A false batch within the limits is stored, since it cannot be
   distinguished from a true one.

     weight of a batch    <= CPUs x (window + slack) x factor
     records of a batch   <= CPUs x (window + slack) x factor / the shortest time of a sample
     end of the window    <= uptime of its boot
     CPUs                 <= the limit for boards of this fleet (--board-cpus-max)

   The limits are for all targets together: many programs have no more CPU time than one. A daemon
   observes them whatever its programs report (agent/daemon/shipper.c). It extends a window
   backwards to cover all its samples. So suspended boards, hotplugged CPUs, backlogs and time
   billed at the end of a process are within these limits. An older daemon does not report its
   number of CPUs and does not extend windows. Its board is assumed to have the most CPUs allowed,
   which leaves room for time billed at once. */
#include "plausible.h"

#include "common/sums.h"
#include "proto/limits.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

/* Returns the most CPU time that the board can have used. */
static uint64_t weight_ns_max(const struct batch *batch, uint32_t cpus_max) {
  uint64_t times = (uint64_t)(batch->cpus > 0 ? batch->cpus : cpus_max) * PLAUSIBLE_FACTOR;
  uint64_t span_ns = sum_of(batch->end_boottime_ns - batch->start_boottime_ns, PLAUSIBLE_SLACK_NS);
  return span_ns <= LIMIT_BATCH_WEIGHT_NS / times ? span_ns * times : LIMIT_BATCH_WEIGHT_NS;
}

static int refuse(char *why, size_t why_len, const char *what, uint64_t claimed, uint64_t most) {
  snprintf(why, why_len, "%s: %" PRIu64 ", where %" PRIu64 " is the most that can be", what,
           claimed, most);
  return -ERANGE;
}

static int check_sums(const struct batch *batch, uint32_t cpus_max, char *why, size_t why_len) {
  const uint64_t weight_max = weight_ns_max(batch, cpus_max);
  const uint64_t records_max = weight_max / PLAUSIBLE_RECORD_NS_MIN;
  uint64_t weight_ns = 0, records = 0;
  for (uint32_t i = 0; i < batch->sample_count; i++) {
    weight_ns = sum_of(weight_ns, batch->samples[i].weight);
    records = sum_of(records, batch->samples[i].count);
  }
  if (weight_ns > weight_max)
    return refuse(why, why_len, "nanoseconds of CPU time in one window", weight_ns, weight_max);
  if (records > records_max)
    return refuse(why, why_len, "records in one window", records, records_max);
  return 0;
}

int plausible_counters(const struct counters *counters, char *why, size_t why_len) {
  uint64_t most = counters->produced > counters->shipped ? counters->produced : counters->shipped;
  for (unsigned i = 0; i < LOSS_REASON_COUNT; i++)
    if (counters->dropped[i] > most) most = counters->dropped[i];
  if (most <= PLAUSIBLE_RECORDS_MAX) return 0;
  return refuse(why, why_len, "records of one run", most, PLAUSIBLE_RECORDS_MAX);
}

int plausible_batch(const struct batch *batch, const struct plausible_limits *limits, char *why,
                    size_t why_len) {
  uint64_t end_max =
      limits->boot_ns < PLAUSIBLE_BOOT_NS_MAX ? limits->boot_ns : PLAUSIBLE_BOOT_NS_MAX;
  if (batch->end_boottime_ns > end_max)
    return refuse(why, why_len, "nanoseconds since boot", batch->end_boottime_ns, end_max);
  if (batch->cpus > limits->cpus_max)
    return refuse(why, why_len, "CPUs of a board (--board-cpus-max)", batch->cpus,
                  limits->cpus_max);
  int error = plausible_counters(&batch->counters, why, why_len);
  return error != 0 ? error : check_sums(batch, limits->cpus_max, why, why_len);
}
