/* SPDX-License-Identifier: Apache-2.0 */
/* The collector that the uplink reaches, mutual trust, and the messages if there is no collector.
 */
#include "uplink_fixture.h"

#include <stdio.h>

static void an_expired_board_keeps_its_spool_and_says_why(void **state) {
  struct bench *bench = *state;
  bench_append(bench, 1, 2, 100);
  fleet_add(&bench->fleet, &(struct fleet_leaf){"board", "clientAuth", -2 * FLEET_DAY, -FLEET_DAY},
            NULL);
  bench_start_peer(bench, peer_ack_all);
  bench_start_uplink(bench);
  bench_run_until(bench, bench_has_reason);
  assert_non_null(strstr(bench_figures(bench).why, "expired"));
  assert_int_equal(bench_waiting(bench), 2);
  fleet_add(&bench->fleet, &(struct fleet_leaf){"board", "clientAuth", -FLEET_DAY, FLEET_DAY},
            NULL); /* renewed: no restart is needed */
  bench_run_until(bench, bench_is_idle);
}

static void an_expired_collector_is_not_trusted(void **state) {
  struct bench *bench = *state;
  bench_append(bench, 1, 2, 100);
  fleet_add(&bench->fleet, &(struct fleet_leaf){"old", "serverAuth", -2 * FLEET_DAY, -FLEET_DAY},
            NULL);
  bench_start_peer_as(bench, "old", peer_ack_all);
  bench_start_uplink(bench);
  bench_run_until(bench, bench_has_reason);
  assert_non_null(strstr(bench_figures(bench).why, "expired"));
  assert_int_equal(bench_waiting(bench), 2);
  assert_int_equal(bench->peer.batches, 0);
}

static void a_collector_of_another_fleet_gets_nothing(void **state) {
  struct bench *bench = *state;
  bench_append(bench, 1, 2, 100);
  struct fleet_pair other =
      fleet_make(&(struct fleet_leaf){"other", NULL, -FLEET_DAY, FLEET_DAY}, NULL);
  fleet_add(&bench->fleet, &(struct fleet_leaf){"stranger", "serverAuth", -FLEET_DAY, FLEET_DAY},
            &other);
  fleet_pair_fini(&other);
  bench_start_peer_as(bench, "stranger", peer_ack_all);
  bench_start_uplink(bench);
  bench_run_until(bench, bench_has_reason);
  assert_non_null(strstr(bench_figures(bench).why, "unknown CA"));
  assert_int_equal(bench_waiting(bench), 2);
  assert_int_equal(bench->peer.handshakes, 0);
}

static void a_board_of_another_fleet_is_told_why(void **state) {
  struct bench *bench = *state;
  bench_append(bench, 1, 2, 100);
  struct fleet_pair other =
      fleet_make(&(struct fleet_leaf){"other", NULL, -FLEET_DAY, FLEET_DAY}, NULL);
  fleet_add(&bench->fleet, &(struct fleet_leaf){"board", "clientAuth", -FLEET_DAY, FLEET_DAY},
            &other);
  fleet_pair_fini(&other);
  bench_start_peer(bench, peer_ack_all);
  bench_start_uplink(bench);
  bench_run_until(bench, bench_has_reason);
  assert_non_null(strstr(bench_figures(bench).why, "unknown CA"));
  assert_int_equal(bench_waiting(bench), 2);
}

static void a_collector_that_is_away_is_tried_again(void **state) {
  struct bench *bench = *state;
  bench_append(bench, 1, 2, 100);
  bench_start_peer(bench, peer_ack_all);
  uint16_t port = bench->peer.port;
  peer_stop(&bench->peer);
  bench->has_peer = false;
  bench_start_uplink(bench);
  bench_run_until(bench, bench_has_reason);
  struct uplink_figures now = bench_figures(bench);
  assert_non_null(strstr(now.why, "refused"));
  assert_true(now.retry_in_ms <= 1000);
  assert_false(now.is_connected);
  assert_int_equal(bench_waiting(bench), 2);
  assert_true(port != 0);
}

static void a_board_that_is_enrolled_later_connects_then(void **state) {
  struct bench *bench = *state;
  bench_append(bench, 1, 1, 100);
  char aside[FLEET_PATH_BYTES];
  fleet_path(&bench->fleet, "aside", aside);
  assert_int_equal(rename(bench->certificate, aside), 0);
  bench_start_peer(bench, peer_ack_all);
  bench_start_uplink(bench);
  bench_run_until(bench, bench_has_reason);
  assert_non_null(strstr(bench_figures(bench).why,
                         "not enrolled: run fleetprof enroll (fleetprof run --output"));
  assert_int_equal(bench->peer.connections, 0);
  assert_int_equal(rename(aside, bench->certificate), 0);
  bench_run_until(bench, bench_is_idle);
}

static void without_an_address_the_uplink_is_off(void **state) {
  struct bench *bench = *state;
  bench_start_uplink(bench);
  bench_run_for(bench, 50);
  assert_string_equal(bench_figures(bench).state, "off");
  assert_false(bench_is_idle(bench));
  uplink_kick(bench->uplink);
}

static void an_address_that_is_none_is_named(void **state) {
  struct bench *bench = *state;
  snprintf(bench->address, sizeof bench->address, "localhost");
  bench_start_uplink(bench);
  bench_run_until(bench, bench_has_reason);
  assert_non_null(strstr(bench_figures(bench).why, "HOST:PORT"));
}

static void a_name_is_resolved_beside_the_loop(void **state) {
  struct bench *bench = *state;
  bench_append(bench, 1, 2, 100);
  bench_start_peer(bench, peer_ack_all);
  snprintf(bench->address, sizeof bench->address, "localhost:%u", bench->peer.port);
  bench_start_uplink(bench);
  bench_run_until(bench, bench_is_idle);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      CASE(an_expired_board_keeps_its_spool_and_says_why),
      CASE(an_expired_collector_is_not_trusted),
      CASE(a_collector_of_another_fleet_gets_nothing),
      CASE(a_board_of_another_fleet_is_told_why),
      CASE(a_collector_that_is_away_is_tried_again),
      CASE(a_board_that_is_enrolled_later_connects_then),
      CASE(without_an_address_the_uplink_is_off),
      CASE(an_address_that_is_none_is_named),
      CASE(a_name_is_resolved_beside_the_loop),
  };
  return cmocka_run_group_tests(tests, bench_begin_group, NULL);
}
