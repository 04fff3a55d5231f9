/* SPDX-License-Identifier: Apache-2.0 */
/* The handshake with the collector: identity, machine, counters and clocks.  The sampler in it is
   that of the busiest target, or the next target's if there are none. */
#include "hello.h"
#include "budget.h"
#include "worker.h"

#include "common/clock.h"
#include "drain/target_state.h"
#include "proc/os_release.h"
#include "proto/limits.h"
#include "ring/wide.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define NEWS_SHARE 0.01 /* bytes are costly */

/* Adds the board's firmware version, unless a label `firmware` was given. */
static void add_firmware(struct worker *worker) {
  if (worker->label_count == OPTION_LIST_MAX) return;
  for (uint32_t i = 0; i < worker->label_count; i++)
    if (strcmp(worker->labels[i].name, "firmware") == 0) return;
  char *text = worker->label_text[worker->label_count];
  if (!os_release_firmware("/etc/os-release", text) &&
      !os_release_firmware("/usr/lib/os-release", text))
    return;
  worker->labels[worker->label_count++] = (struct label){"firmware", text};
}

void hello_init(struct worker *worker) {
  uname(&worker->machine);
  for (unsigned i = 0; i < worker->settings->labels.count; i++) {
    char *text = worker->label_text[i];
    snprintf(text, sizeof worker->label_text[i], "%s", worker->settings->labels.values[i]);
    char *equals = strchr(text, '=');
    if (equals != NULL) *equals = '\0';
    worker->labels[i] = (struct label){text, equals ? equals + 1 : ""};
  }
  worker->label_count = worker->settings->labels.count;
  add_firmware(worker);
}

static void sampler_in_use(const struct worker *worker, const char **ret_sampler,
                           uint32_t *ret_mhz) {
  const struct target *busiest = NULL;
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++) {
    const struct target *target = worker->targets.rows[row];
    if (target == NULL) continue;
    if (busiest == NULL || target->records > busiest->records) busiest = target;
  }
  *ret_sampler = worker->keeper->perf.count > 0 ? "perf" : "timer";
  *ret_mhz = 0;
  if (busiest == NULL) return;
  *ret_sampler = target_sampler(busiest);
  *ret_mhz = target_achieved_mhz(busiest);
}

static uint32_t ppm(double percent) {
  return percent > 0 ? (uint32_t)(percent * 1e4 + 0.5) : 0;
}

static double sum_of(const uint64_t stacks_ns[STACK_END_COUNT]) {
  double sum = 0;
  for (unsigned i = 0; i < STACK_END_COUNT; i++) sum += (double)stacks_ns[i];
  return sum;
}

/* The first stacks of all are reported, then every share that has changed by one point. */
static bool are_stacks_news(const struct worker *worker) {
  const uint64_t *now = worker->drain.stacks_ns, *told = worker->stacks_told_ns;
  double all = sum_of(now), all_told = sum_of(told);
  if (!(all > 0) || !(all_told > 0)) return all > all_told;
  for (unsigned i = 0; i < STACK_END_COUNT; i++)
    if (fabs((double)now[i] / all - (double)told[i] / all_told) >= NEWS_SHARE) return true;
  return false;
}

static void fill_effort(struct worker *worker, bool is_first, struct effort *ret) {
  struct budget_figures figures;
  budget_figures(worker, &figures);
  bool is_news = budget_is_news(worker->budget, &figures);
  if (!is_news && !is_first && !are_stacks_news(worker)) return;
  *ret = (struct effort){.asked_mhz = figures.asked_mhz,
                         .rate_reason = figures.reason,
                         .handler_p50_ns = figures.handler.p50_ns,
                         .handler_p99_ns = figures.handler.p99_ns,
                         .sample_ns = figures.sample_ns,
                         .daemon_cpu_ppm = ppm(figures.daemon_percent),
                         .added_cpu_ppm = ppm(figures.added_percent),
                         .bytes_day = (uint64_t)figures.spent_bytes_day,
                         .budget_cpu_ppm = ppm(figures.cpu_percent),
                         .budget_bytes_day = (uint64_t)figures.bytes_day,
                         .budget_state = figures.state};
  memcpy(ret->stacks_ns, worker->drain.stacks_ns, sizeof ret->stacks_ns);
  memcpy(worker->stacks_told_ns, ret->stacks_ns, sizeof ret->stacks_ns);
}

void hello_fill(void *context, struct hello *hello) {
  struct worker *worker = context;
  struct spool_figures spool;
  spool_figures(worker->spool, &spool);
  memset(hello, 0, sizeof *hello);
  hello->version = LIMIT_PROTOCOL_VERSION;
  clock_boot_id(hello->boot_id);
  hello->boottime_ns = clock_boottime_ns();
  hello->walltime_ns = clock_walltime_ns();
  hello->program_version = FLEETPROF_VERSION;
  hello->arch = worker->machine.machine;
  hello->kernel = worker->machine.release;
  hello->label_count = worker->label_count;
  hello->labels = worker->labels;
  hello->first_seq = wide_load(&worker->keeper->page->next_seq);
  if (spool.entries > 0 && spool.first_run == worker->keeper->run)
    hello->first_seq = spool.first_seq;
  hello->counters = *counter_page_books(worker->keeper->page);
  sampler_in_use(worker, &hello->sampler, &hello->achieved_mhz);
  fill_effort(worker, true, &hello->effort);
  if (spool.entries > 0) hello->boots = boot_times_earlier(&worker->boots, &hello->boot_count);
}

void hello_fill_effort(void *context, struct effort *effort) {
  fill_effort(context, false, effort);
}

void hello_fill_ping(void *context, struct ping *ping) {
  struct worker *worker = context;
  memset(ping, 0, sizeof *ping);
  ping->boottime_ns = clock_boottime_ns();
  ping->walltime_ns = clock_walltime_ns();
  ping->counters = *counter_page_books(worker->keeper->page);
  ping->is_settled = !spool_has_others(worker->spool, worker->keeper->run);
  sampler_in_use(worker, &ping->sampler, &ping->achieved_mhz);
  fill_effort(worker, false, &ping->effort);
}
