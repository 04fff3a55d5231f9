/* SPDX-License-Identifier: Apache-2.0 */
/* STATUS: this daemon's state as one JSON object:

    {version, pid, worker_pid, worker_starts, state, run, boot_id, started_walltime_ns, uptime_s,
     collector, perf: {available, why}, budget: {debug_used, debug_bytes_day, bytes_day,
     cpu_percent, given, state, factor, cpu_fill, bytes_fill, window_ms},
     cost: {daemon_cpu_percent, added_cpu_percent, bytes_day, perf_sample_ns, signal_ns,
            handler_runs, handler_ns_p50, handler_ns_p99},
     uplink: {state, why, page_url, connected, acked_batches, sent_bytes, reconnects, retry_in_ms,
             is_time_known, clock_offset_s (to be added to this board's wall clock)},
     spool: {entries, records, bytes, bytes_max, corrupt_segments, quarantined, bytes_written,
             syncs, error},
     loss: {produced, shipped (= spooled + acked), spooled, acked, open, dropped: {reason: n},
            threads_unsampled, unsampled: {reason: n}, perf_throttled},
     tables: {ready, waiting, nothing, unreadable, refused, failed, left_out: modules; made,
             mapped_bytes, foreign_samples (of another word size); path, why: the last refused;
             in those that are ready: functions_refused, functions_left (overlapping), untold_rows;
             functions_path, functions_why: the last with a refused one;
             by timer: shared, shared_left_out (modules), shared_bytes, shared_bytes_max},
     targets (visible to the requesting user): [{id, pid, service, exe, sampler, why,
             asked_hz, rate_hz, rate_reason, achieved_hz, samples, stacks: {end: share} ({}: none),
             thinned, throttled, sample_ns, cpu_seconds (not of a recorder, which has samples when
             it ends and `written` until then), labels: {name: value},
             unsampled: {reason: threads}, lock_step: "possible"|"likely",
             none_for_s (sampler none only), ended}],
     targets_hidden: number of the other targets, notes (visible): [{pid, service, sampler, why}],
     intake: {connections, packets, refused, malformed, deferred, turned_away,
             refused_programs: {reason: n}}} */
#ifndef DAEMON_STATUS_H
#define DAEMON_STATUS_H

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct intake_packet;
struct worker;

/* Answers STATUS with a memfd that contains the text. */
void status_on_request(struct worker *worker, struct intake_packet *packet);

/* Whether user VIEWER may see the programs of OWNER. */
bool status_may_see(uint32_t viewer, uint32_t owner);

/* Its parts, one field each: the programs; the launch records of `run`; the total of unsampled
   threads. */
void status_print_targets(const struct worker *worker, uint32_t viewer, struct buf *out);
void status_print_notes(const struct worker *worker, uint32_t viewer, struct buf *out);
void status_print_unsampled(const struct worker *worker, struct buf *out);

#endif
