/* SPDX-License-Identifier: Apache-2.0 */
/* A translator may always time out, or always print a wrong number of lines. That costs the names
 * of all its modules, without another symptom. So each kind of failure is a series. */
#include "translator_counts.h"

#include "common/buf.h"

#include <errno.h>
#include <inttypes.h>

void translator_counts_add(struct translator_counts *counts, int error, uint32_t addresses) {
  counts->questions++;
  counts->addresses += addresses;
  switch (error) {
  case 0:
    break;
  case -ETIMEDOUT:
    counts->deadlines++;
    break;
  case -EBADMSG:
    counts->miscounts++;
    break;
  case -ECHILD:
    counts->exits++;
    break;
  default:
    counts->other++;
  }
}

static void print_one(struct buf *ret, const char *name, const char *type, const char *help,
                      uint64_t value) {
  buf_printf(ret,
             "# HELP fleetprof_translator_%s %s\n"
             "# TYPE fleetprof_translator_%s %s\n"
             "fleetprof_translator_%s %" PRIu64 "\n",
             name, help, name, type, name, value);
}

void translator_counts_print(const struct translator_counts *counts, struct buf *ret) {
  print_one(ret, "starts_total", "counter", "Processes that were started.", counts->starts);
  print_one(ret, "questions_total", "counter", "Exchanges, repeated ones too.", counts->questions);
  print_one(ret, "addresses_total", "counter", "Addresses in them.", counts->addresses);
  print_one(ret, "named_total", "counter", "Addresses that were named.", counts->named);
  buf_printf(ret,
             "# HELP fleetprof_translator_failures_total Exchanges of which nothing was believed.\n"
             "# TYPE fleetprof_translator_failures_total counter\n"
             "fleetprof_translator_failures_total{reason=\"deadline\"} %" PRIu64 "\n"
             "fleetprof_translator_failures_total{reason=\"line_count\"} %" PRIu64 "\n"
             "fleetprof_translator_failures_total{reason=\"exit\"} %" PRIu64 "\n"
             "fleetprof_translator_failures_total{reason=\"other\"} %" PRIu64 "\n",
             counts->deadlines, counts->miscounts, counts->exits, counts->other);
  print_one(ret, "refused_total", "counter",
            "Times that an answer was not believed, as the module's own file contradicts it.",
            counts->refused);
  print_one(ret, "waiting_addresses", "gauge", "Addresses that are not answered yet.",
            counts->waiting);
  print_one(ret, "kept_answers", "gauge", "Answers in memory.", counts->kept);
}
