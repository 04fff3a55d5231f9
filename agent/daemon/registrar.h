/* SPDX-License-Identifier: Apache-2.0 */
/* Who comes to be sampled: rings (registrar_ring.c), events (registrar_perf.c), and what all
   need. */
#ifndef DAEMON_REGISTRAR_H
#define DAEMON_REGISTRAR_H

#include "intake.h"
#include "worker.h"

/* Serve TARGET, a program with the agent in it that wants a ring; PERF, a run with its events;
   NOTE, what a run has chosen.  Each answers its caller. */
void registrar_on_target(struct worker *worker, struct intake_packet *packet);
void registrar_on_perf(struct worker *worker, struct intake_packet *packet);
void registrar_on_note(struct worker *worker, struct intake_packet *packet);

/* Why nothing is registered, or switched, once the daemon ends: who came would get no samples. */
extern const char registrar_ending_reason[];
/* Why nothing is registered while the kill-switch file is there. */
extern const char registrar_kill_reason[];

/* One more target with RING_BYTES of ring is within the limits of all and of UID's share. */
bool registrar_has_room(struct worker *worker, uint32_t uid, uint64_t ring_bytes);

/* Why a program gets no ring, whose tree is sampled by perf. */
extern const char registrar_covered_reason[];

/* NULL when MORE events are within what all programs of UID may have, or why not. */
const char *registrar_check_events(const struct worker *worker, uint32_t uid, uint64_t more);

/* Fills RET, whose pid is set, with what both kinds take from the request.  Returns NULL, or what
   is wrong with it. */
const char *registrar_describe(struct worker *worker, const struct intake_packet *packet,
                               struct hold_target *ret);

/* Gives copies of FDS to the keeper and takes them over.  Returns the target or NULL. */
struct target *registrar_take(struct worker *worker, const struct hold_target *held,
                              const int *fds);

#endif
