/* SPDX-License-Identifier: Apache-2.0 */
/* A board's certificate says who it is, and nothing says that it tells the truth.  A batch whose
   numbers cannot be is refused for good; one that lies within them counts, and cannot be told from
   one that does not.

     weight of a target   <= CPUs x (window + slack) x factor
     records of a target  <= CPUs x (window + slack) / the shortest time that a sample takes
     end of the window    <= what its boot has lasted

   By target, not by batch: one program that lies to an honest daemon must not have what the daemon
   says of others refused.

   A daemon lets its window begin early enough for all that is in it (agent/daemon/shipper.c):
   suspended boards, CPUs that come and go, backlogs and time that is billed at the end of a process
   are within these bounds.  Daemons that do not say how many CPUs their board has did not do so
   either.  What these billed at once can be a process's whole life, so all that is known is that
   it was spent since the boot, on no more CPUs than Linux knows. */
#include "plausible.h"

#include "common/sums.h"
#include "proto/limits.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

struct claim {
  uint64_t weight_ns, records;
};

/* What one target can have spent. */
static uint64_t weight_ns_max(const struct batch *batch) {
  bool is_said = batch->cpus > 0;
  uint64_t cpus = is_said ? batch->cpus : LIMIT_CPUS;
  uint64_t span_ns = batch->end_boottime_ns - (is_said ? batch->start_boottime_ns : 0);
  uint64_t times = cpus * PLAUSIBLE_FACTOR;
  span_ns = sum_of(span_ns, PLAUSIBLE_SLACK_NS);
  return span_ns <= PLAUSIBLE_WEIGHT_NS_MAX / times ? span_ns * times : PLAUSIBLE_WEIGHT_NS_MAX;
}

static int refuse(char *why, size_t why_len, const char *what, uint64_t claimed, uint64_t most) {
  snprintf(why, why_len, "%s: %" PRIu64 ", where %" PRIu64 " is the most that can be", what,
           claimed, most);
  return -ERANGE;
}

static int check_claims(const struct batch *batch, char *why, size_t why_len) {
  struct claim claims[LIMIT_BATCH_TARGETS] = {{0}}, all = {0};
  const uint64_t weight_max = weight_ns_max(batch);
  const uint64_t records_max = weight_max / PLAUSIBLE_RECORD_NS_MIN;
  for (uint32_t i = 0; i < batch->sample_count; i++) {
    const struct batch_sample *sample = &batch->samples[i];
    struct claim *claim = &claims[batch->threads[sample->thread].target];
    claim->weight_ns = sum_of(claim->weight_ns, sample->weight);
    claim->records = sum_of(claim->records, sample->count);
    all.weight_ns = sum_of(all.weight_ns, sample->weight);
    if (claim->weight_ns > weight_max)
      return refuse(why, why_len, "nanoseconds of CPU time in one window", claim->weight_ns,
                    weight_max);
    if (claim->records > records_max)
      return refuse(why, why_len, "records in one window", claim->records, records_max);
  }
  if (all.weight_ns > PLAUSIBLE_WEIGHT_NS_MAX)
    return refuse(why, why_len, "nanoseconds of CPU time in one batch", all.weight_ns,
                  PLAUSIBLE_WEIGHT_NS_MAX);
  return 0;
}

int plausible_counters(const struct counters *counters, char *why, size_t why_len) {
  uint64_t most = counters->produced > counters->shipped ? counters->produced : counters->shipped;
  for (unsigned i = 0; i < LOSS_REASON_COUNT; i++)
    if (counters->dropped[i] > most) most = counters->dropped[i];
  if (most <= PLAUSIBLE_RECORDS_MAX) return 0;
  return refuse(why, why_len, "records of one run", most, PLAUSIBLE_RECORDS_MAX);
}

int plausible_batch(const struct batch *batch, uint64_t boot_ns, char *why, size_t why_len) {
  uint64_t end_max = boot_ns < PLAUSIBLE_BOOT_NS_MAX ? boot_ns : PLAUSIBLE_BOOT_NS_MAX;
  if (batch->end_boottime_ns > end_max)
    return refuse(why, why_len, "nanoseconds since boot", batch->end_boottime_ns, end_max);
  int error = plausible_counters(&batch->counters, why, why_len);
  return error != 0 ? error : check_claims(batch, why, why_len);
}
