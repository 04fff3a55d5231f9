/* SPDX-License-Identifier: Apache-2.0 */
/* One check of `fleetprof doctor` and what it found. */
#ifndef CLI_FINDING_H
#define CLI_FINDING_H

#include "paths.h"

#include <stdbool.h>
#include <stdint.h>

enum finding_verdict { FINDING_PASS, FINDING_WARN, FINDING_FAIL };

struct finding {
  enum finding_verdict verdict;
  char why[300];
  char mend[300]; /* empty when there is nothing to mend */
};

struct patient {
  const char *given_state; /* --state, or NULL */
  struct path state;       /* the directory itself: that of the daemon which answers, if any does */
  bool is_closed;          /* only another user may look into it */
  int64_t clock_offset_ns; /* daemon_clock_offset_ns of that daemon */
  struct path kill_switch; /* the file that the daemon obeys now, or "" */
};

/* Sets FINDING's verdict and, as printf does, its reason.  Returns FINDING. */
struct finding *finding_set(struct finding *finding, enum finding_verdict verdict,
                            const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Sets how to mend it. */
void finding_mend(struct finding *finding, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* What the kernel allows. */
void finding_perf_events(const struct patient *patient, struct finding *ret);
void finding_perf_ring(const struct patient *patient, struct finding *ret);
void finding_cpu_timers(const struct patient *patient, struct finding *ret);
void finding_kernel_names(const struct patient *patient, struct finding *ret);
void finding_kernel_samples(const struct patient *patient, struct finding *ret);

/* What is installed, and what the board has. */
void finding_agent(const struct patient *patient, struct finding *ret);
void finding_kill_switch(const struct patient *patient, struct finding *ret);
void finding_daemon(const struct patient *patient, struct finding *ret);
void finding_enrolment(const struct patient *patient, struct finding *ret);
void finding_certificate(const struct patient *patient, struct finding *ret);
void finding_clock(const struct patient *patient, struct finding *ret);
void finding_disk(const struct patient *patient, struct finding *ret);

/* What follows: which sampler auto takes, how far the timer goes, whether samples arrive. */
void finding_sampler(const struct patient *patient, struct finding *ret);
void finding_tick(const struct patient *patient, struct finding *ret);
void finding_signal_queue(const struct patient *patient, struct finding *ret);
void finding_yama(const struct patient *patient, struct finding *ret);
void finding_agent_kind(const struct patient *patient, struct finding *ret);
void finding_uplink(const struct patient *patient, struct finding *ret);

#endif
