/* SPDX-License-Identifier: Apache-2.0 */
/* An uplink with a real spool in a fleet of its own, and a collector that follows a script. */
#ifndef TESTS_UPLINK_FIXTURE_H
#define TESTS_UPLINK_FIXTURE_H

#include "peer_fixture.h"

#include "common/clock.h"
#include "common/log.h"
#include "proto/limits.h"
#include "spool/spool.h"
#include "uplink/debug_sender.h"
#include "uplink/known_time.h"
#include "uplink/uplink.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>

#include <cmocka.h>

enum { RUN = 7, RECORDS = 3 /* of each batch */ };

struct bench {
  struct fleet fleet;
  struct peer peer;
  bool has_peer;
  struct event_base *loop;
  struct spool *spool;
  struct debug_sender *debug;
  struct uplink *uplink;
  struct known_time time;
  char address[64];
  char certificate[FLEET_PATH_BYTES], key[FLEET_PATH_BYTES], ca[FLEET_PATH_BYTES];
  uint64_t lost[LOSS_REASON_COUNT];
  unsigned changes;
};

/* Also for a group: no log, no SIGPIPE of the collector's side. */
int bench_begin_group(void **state);
/* Reads the build-id of this program into ID; empty when it has none, or readelf is not there. */
struct span bench_own_build_id(uint8_t id[LIMIT_MODULE_ID_BYTES]);

int bench_set_up(void **state);
int bench_tear_down(void **state);

/* Opens the spool again with another limit; before the uplink is started. */
void bench_limit_spool(struct bench *bench, uint64_t bytes_max);

/* Puts the batches FIRST to LAST, LEN bytes each, into the spool. */
void bench_append(struct bench *bench, uint64_t first, uint64_t last, size_t len);

/* Starts the collector, with its certificate or with the certificate NAME. */
void bench_start_peer(struct bench *bench, peer_script *script);
void bench_start_peer_as(struct bench *bench, const char *name, peer_script *script);
void bench_start_uplink(struct bench *bench);
/* COUNT batches wait, a collector follows SCRIPT, the uplink begins. */
void bench_begin(struct bench *bench, uint64_t count, peer_script *script);

struct uplink_figures bench_figures(struct bench *bench);
uint64_t bench_waiting(struct bench *bench); /* batches in the spool */

typedef bool bench_condition(struct bench *bench);
bool bench_is_idle(struct bench *bench);
bool bench_has_reason(struct bench *bench); /* why it waits */

/* Turns the loop until IS_MET; fails the test after 15 s. */
void bench_run_until(struct bench *bench, bench_condition *is_met);
void bench_run_for(struct bench *bench, unsigned ms);

/* The uplink's own figures for the hello. */
void bench_fill_hello(void *context, struct hello *hello);
void bench_fill_ping(void *context, struct ping *ping);

#define CASE(name) cmocka_unit_test_setup_teardown(name, bench_set_up, bench_tear_down)

#endif
