/* SPDX-License-Identifier: Apache-2.0 */
/* Each counter is independent: relaxed. */
#include "reader_counts.h"

#include "common/buf.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>

enum kind { READ, REFUSED, DIED, KILLED, TIMED_OUT, GIVEN_UP, NO_WORKER, KINDS };

static const char *const names[KINDS] = {"read",      "refused",  "died",     "killed",
                                         "timed_out", "given_up", "no_worker"};
static _Atomic uint64_t counts[KINDS];

static enum kind kind_of(const struct nursery_result *result) {
  switch (result->outcome) {
  case NURSERY_REPLIED:
    return result->reply.status == 0 ? READ : REFUSED;
  case NURSERY_DIED:
    return DIED;
  case NURSERY_KILLED:
    return KILLED;
  case NURSERY_TIMED_OUT:
    return TIMED_OUT;
  default:
    return GIVEN_UP;
  }
}

void reader_counts_add(const struct nursery_result *result, int error) {
  if (error == -ECANCELED) return; /* the collector is stopping */
  enum kind kind = error != 0 ? NO_WORKER : kind_of(result);
  atomic_fetch_add_explicit(&counts[kind], 1, memory_order_relaxed);
}

void reader_counts_print(struct buf *ret) {
  buf_append_string(ret, "# HELP fleetprof_names_reader_runs_total Debug files that were given to "
                         "the reader, by how that ended.\n"
                         "# TYPE fleetprof_names_reader_runs_total counter\n");
  for (int i = 0; i < KINDS; i++)
    buf_printf(ret, "fleetprof_names_reader_runs_total{outcome=\"%s\"} %" PRIu64 "\n", names[i],
               atomic_load_explicit(&counts[i], memory_order_relaxed));
}
