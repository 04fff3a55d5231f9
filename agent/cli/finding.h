/* SPDX-License-Identifier: Apache-2.0 */
/* One check of `fleetprof doctor` and its result. */
#ifndef CLI_FINDING_H
#define CLI_FINDING_H

#include "paths.h"

#include <stdbool.h>
#include <stdint.h>

enum finding_verdict { FINDING_PASS, FINDING_WARN, FINDING_FAIL };

struct finding {
  enum finding_verdict verdict;
  char why[300];
  char mend[300]; /* the remedy, or "" */
};

struct patient {
  const char *given_state; /* --state, or NULL */
  struct path state;       /* the directory itself: that of the daemon that answers, if any */
  bool is_closed;          /* only another user may read the directory */
  int64_t clock_offset_ns; /* daemon_clock_offset_ns of that daemon */
  struct path kill_switch; /* the kill-switch file that is in effect, or "" */
};

/* Sets FINDING's verdict and its reason, formatted as by printf.  Returns FINDING. */
struct finding *finding_set(struct finding *finding, enum finding_verdict verdict,
                            const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Sets the remedy. */
void finding_mend(struct finding *finding, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Checks of the kernel. */
void finding_perf_events(const struct patient *patient, struct finding *ret);
void finding_perf_ring(const struct patient *patient, struct finding *ret);
void finding_cpu_timers(const struct patient *patient, struct finding *ret);
void finding_kernel_names(const struct patient *patient, struct finding *ret);
void finding_kernel_samples(const struct patient *patient, struct finding *ret);

/* Checks of the installation and the board. */
void finding_agent(const struct patient *patient, struct finding *ret);
void finding_kill_switch(const struct patient *patient, struct finding *ret);
void finding_daemon(const struct patient *patient, struct finding *ret);
void finding_enrolment(const struct patient *patient, struct finding *ret);
void finding_certificate(const struct patient *patient, struct finding *ret);
void finding_clock(const struct patient *patient, struct finding *ret);
void finding_disk(const struct patient *patient, struct finding *ret);

/* Checks of the consequences: the sampler that auto selects, the timer's resolution, and
   delivery. */
void finding_sampler(const struct patient *patient, struct finding *ret);
void finding_tick(const struct patient *patient, struct finding *ret);
void finding_signal_queue(const struct patient *patient, struct finding *ret);
void finding_yama(const struct patient *patient, struct finding *ret);
void finding_agent_kind(const struct patient *patient, struct finding *ret);
void finding_uplink(const struct patient *patient, struct finding *ret);

#endif
