/* SPDX-License-Identifier: Apache-2.0 */
/* Registers targets: rings (registrar_ring.c), events (registrar_perf.c), and the common parts. */
#ifndef DAEMON_REGISTRAR_H
#define DAEMON_REGISTRAR_H

#include "intake.h"
#include "worker.h"

/* Serve TARGET (a program with the agent requests a ring), PERF (a run sends its events) and NOTE
   (a run's choice).  Each answers its peer. */
void registrar_on_target(struct worker *worker, struct intake_packet *packet);
void registrar_on_perf(struct worker *worker, struct intake_packet *packet);
void registrar_on_note(struct worker *worker, struct intake_packet *packet);

/* Why nothing is registered or changed during shutdown: a new target would get no samples. */
extern const char registrar_ending_reason[];
/* Why nothing is registered while the kill-switch file is there. */
extern const char registrar_kill_reason[];

/* Whether another target with RING_BYTES of ring fits the total limits and UID's share. */
bool registrar_has_room(struct worker *worker, uint32_t uid, uint64_t ring_bytes);

/* Why a program in a tree that perf samples gets no ring. */
extern const char registrar_covered_reason[];

/* Returns NULL if MORE events fit the limit of UID's programs, or the reason. */
const char *registrar_check_events(const struct worker *worker, uint32_t uid, uint64_t more);

/* Fills in the fields of RET that both kinds take from the request.  RET->pid must be set.  Returns
   NULL, or the fault of the request. */
const char *registrar_describe(struct worker *worker, const struct intake_packet *packet,
                               struct hold_target *ret);

/* Passes copies of FDS to the supervisor and takes ownership of FDS.  Returns the target or
   NULL. */
struct target *registrar_take(struct worker *worker, const struct hold_target *held,
                              const int *fds);

#endif
