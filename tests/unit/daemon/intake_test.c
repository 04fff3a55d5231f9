/* SPDX-License-Identifier: Apache-2.0 */
/* Callers of a system-wide daemon: a real socket, but the test supplies the kernel's credentials of
   the caller and each user's debt. */
#include "daemon/intake.h"

#include "common/clock.h"
#include "keeper/porter.h"
#include "targets/user_tolls.h"

#include <event2/event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

enum { STRANGERS = 2001, STRANGERS_COUNT = INTAKE_CONNECTIONS_MAX / INTAKE_CONNECTIONS_OF_USER };
enum { QUIET_MS = 30 }; /* where a test has no time for INTAKE_QUIET_S */
enum { GREEDY = 1001, MODEST = 1002, TURNS = 10, QUEUE = 8, CROWD = 5 };

struct door {
  struct event_base *loop;
  struct intake *intake;
  struct user_tolls tolls;
  struct sockaddr_un address;
  socklen_t address_bytes;
  int listener;
  unsigned served, closed;
  struct intake_connection *flush; /* waits for its answer */
};

static uid_t caller;

int __real_getsockopt(int socket, int level, int name, void *value, socklen_t *len);
int __wrap_getsockopt(int socket, int level, int name, void *value, socklen_t *len);

int __wrap_getsockopt(int socket, int level, int name, void *value, socklen_t *len) {
  int rc = __real_getsockopt(socket, level, name, value, len);
  if (level == SOL_SOCKET && name == SO_PEERCRED) ((struct ucred *)value)->uid = caller;
  return rc;
}

uid_t __wrap_geteuid(void);

uid_t __wrap_geteuid(void) {
  return GREEDY; /* root has no limit in any daemon */
}

static bool is_hasty; /* a quiet connection ends after QUIET_MS */

int __real_event_add(struct event *event, const struct timeval *timeout);
int __wrap_event_add(struct event *event, const struct timeval *timeout);

int __wrap_event_add(struct event *event, const struct timeval *timeout) {
  const struct timeval quiet = {.tv_usec = QUIET_MS * 1000};
  if (timeout != NULL) assert_int_equal(timeout->tv_sec, INTAKE_QUIET_S);
  return __real_event_add(event, timeout != NULL && is_hasty ? &quiet : timeout);
}

static void on_packet(void *context, struct intake_packet *packet) {
  struct door *door = context;
  door->served++;
  assert_int_equal(packet->uid, caller);
  door->flush = packet->request->kind == INTAKE_FLUSH ? packet->connection : NULL;
  if (door->flush == NULL) intake_accept(packet->connection);
}

static void on_close(void *context, struct intake_connection *connection) {
  (void)connection;
  ((struct door *)context)->closed++;
}

static void open_door(struct door *door, bool for_all) {
  struct intake_parts parts = {.loop = event_base_new(),
                               .for_all = for_all,
                               .tolls = &door->tolls,
                               .on_packet = on_packet,
                               .on_close = on_close,
                               .context = door};
  static struct porter_tally tally;
  parts.tally = &tally;
  door->loop = parts.loop;
  assert_non_null(door->loop);
  door->listener = parts.listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0);
  assert_true(door->listener >= 0);
  /* Without a name: the kernel assigns one, which no folder contains. */
  struct sockaddr_un unnamed = {.sun_family = AF_UNIX};
  assert_int_equal(bind(door->listener, (struct sockaddr *)&unnamed, sizeof unnamed.sun_family), 0);
  door->address_bytes = sizeof door->address;
  assert_int_equal(
      getsockname(door->listener, (struct sockaddr *)&door->address, &door->address_bytes), 0);
  assert_int_equal(listen(door->listener, QUEUE), 0);
  assert_int_equal(intake_start(&parts, &door->intake), 0);
}

static int set_up(void **state) {
  struct door *door = calloc(1, sizeof *door);
  if (door == NULL) return -1;
  open_door(door, true);
  *state = door;
  return 0;
}

static int set_up_own(void **state) {
  struct door *door = calloc(1, sizeof *door);
  if (door == NULL) return -1;
  open_door(door, false);
  *state = door;
  return 0;
}

static int set_up_hasty(void **state) {
  is_hasty = true;
  return set_up(state);
}

static int tear_down(void **state) {
  is_hasty = false;
  struct door *door = *state;
  intake_stop(door->intake);
  event_base_free(door->loop);
  close(door->listener);
  free(door);
  return 0;
}

static void turn(struct door *door) {
  for (int i = 0; i < TURNS; i++) event_base_loop(door->loop, EVLOOP_NONBLOCK);
}

static int knock_as(const struct door *door, uid_t uid) {
  int socket_fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
  caller = uid;
  assert_int_equal(connect(socket_fd, (struct sockaddr *)&door->address, door->address_bytes), 0);
  return socket_fd;
}

static int call_as(struct door *door, uid_t uid) {
  int socket_fd = knock_as(door, uid);
  turn(door);
  return socket_fd;
}

static void ask(struct door *door, int socket, enum intake_kind kind) {
  struct intake_request request = {
      .magic = INTAKE_MAGIC, .version = INTAKE_VERSION, .kind = (uint16_t)kind};
  send(socket, &request, sizeof request, MSG_NOSIGNAL);
  turn(door);
}

static void say(struct door *door, int socket) {
  ask(door, socket, INTAKE_NOTE);
}

/* The kind of the pending answer; 0: none, -1: the connection has ended. */
static int answer(int socket) {
  struct intake_reply reply;
  ssize_t got = recv(socket, &reply, sizeof reply, MSG_DONTWAIT);
  if (got == 0) return -1;
  if (got < 0) return 0;
  assert_int_equal(got, sizeof reply);
  if (reply.kind == INTAKE_BUSY) assert_true(strlen(reply.why) > 0);
  return reply.kind;
}

static void owes(struct door *door, uid_t uid) {
  user_tolls_may_pass(&door->tolls, uid, clock_monotonic_ns());
  user_tolls_charge(&door->tolls, uid, 60 * NS_PER_SECOND);
}

static void who_has_had_his_share_is_told_to_ask_again(void **state) {
  struct door *door = *state;
  struct intake_figures figures;
  owes(door, GREEDY);
  int greedy = call_as(door, GREEDY);
  assert_int_equal(answer(greedy), INTAKE_BUSY);
  assert_int_equal(answer(greedy), -1);
  close(greedy);
  intake_figures(door->intake, &figures);
  assert_int_equal(figures.deferred, 1);
  assert_int_equal(figures.connections, 0);
  assert_int_equal(door->served, 0);
}

static void others_are_served_meanwhile(void **state) {
  struct door *door = *state;
  struct intake_figures figures;
  owes(door, GREEDY);
  const uid_t others[] = {MODEST, 0};
  for (unsigned i = 0; i < 2; i++) {
    int other = call_as(door, others[i]);
    say(door, other);
    assert_int_equal(answer(other), INTAKE_ACCEPTED);
    assert_int_equal(answer(other), 0); /* and may go on */
    close(other);
    turn(door);
  }
  intake_figures(door->intake, &figures);
  assert_int_equal(figures.deferred, 0);
  assert_int_equal(door->served, 2);
}

static void whose_share_ends_while_he_is_connected_is_told_too(void **state) {
  struct door *door = *state;
  int greedy = call_as(door, GREEDY);
  say(door, greedy);
  assert_int_equal(answer(greedy), INTAKE_ACCEPTED);
  owes(door, GREEDY);
  say(door, greedy);
  assert_int_equal(answer(greedy), INTAKE_BUSY);
  assert_int_equal(answer(greedy), -1);
  assert_int_equal(door->served, 1);
  assert_int_equal(door->closed, 1);
  close(greedy);
}

/* A debt decreases only when it is read, before the charge: the rest is new. */
static void what_he_asks_is_booked_on_him(void **state) {
  struct door *door = *state;
  int modest = call_as(door, MODEST);
  memset(&door->tolls, 0, sizeof door->tolls);
  say(door, modest);
  assert_int_equal(answer(modest), INTAKE_ACCEPTED);
  assert_int_equal(door->tolls.rows[0].uid, MODEST);
  assert_true(door->tolls.rows[0].toll.debt_ns > 0);
  memset(&door->tolls, 0, sizeof door->tolls);
  close(call_as(door, GREEDY));
  assert_int_equal(door->tolls.rows[0].uid, GREEDY);
  assert_true(door->tolls.rows[0].toll.debt_ns > 0);
  close(modest);
}

static void a_users_own_daemon_knows_no_share(void **state) {
  struct door *door = *state;
  owes(door, GREEDY);
  int own = call_as(door, GREEDY);
  say(door, own);
  assert_int_equal(answer(own), INTAKE_ACCEPTED);
  close(own);
}

/* As where a board starts all its programs at once: the queue is short. */
static void all_who_wait_are_let_in_before_one_is_heard(void **state) {
  struct door *door = *state;
  struct intake_figures figures;
  int callers[CROWD * QUEUE];
  for (unsigned group = 0; group < CROWD; group++) {
    for (unsigned i = 0; i < QUEUE; i++) callers[group * QUEUE + i] = knock_as(door, MODEST);
    event_base_loop(door->loop, EVLOOP_ONCE); /* one pass */
    intake_figures(door->intake, &figures);
    if (group < 4) assert_int_equal(figures.connections, (group + 1) * QUEUE);
  }
  assert_true(figures.connections < sizeof callers / sizeof *callers); /* the last ones wait */
  for (unsigned i = 0; i < sizeof callers / sizeof *callers; i++) {
    say(door, callers[i]);
    assert_int_equal(answer(callers[i]), INTAKE_ACCEPTED);
    close(callers[i]);
  }
  turn(door);
  intake_figures(door->intake, &figures);
  assert_int_equal(figures.connections, 0);
  assert_int_equal(figures.refused, 0);
}

static void an_agent_asks_once(void **state) {
  struct door *door = *state;
  int agent = call_as(door, MODEST);
  ask(door, agent, INTAKE_TARGET);
  assert_int_equal(answer(agent), INTAKE_ACCEPTED);
  assert_int_equal(answer(agent), -1);
  assert_int_equal(door->closed, 1);
  close(agent);
}

static void root_is_heard_where_strangers_have_taken_all_places(void **state) {
  struct door *door = *state;
  int sockets[INTAKE_CONNECTIONS_MAX];
  struct intake_figures figures;
  for (unsigned i = 0; i < INTAKE_CONNECTIONS_MAX; i++)
    sockets[i] = call_as(door, STRANGERS + i % STRANGERS_COUNT);
  intake_figures(door->intake, &figures);
  assert_int_equal(figures.connections, INTAKE_CONNECTIONS_MAX);
  int modest = call_as(door, MODEST);
  assert_int_equal(answer(modest), -1);
  close(modest);
  for (unsigned i = 0; i < INTAKE_CONNECTIONS_OF_MASTER; i++) {
    int root = call_as(door, 0);
    say(door, root);
    assert_int_equal(answer(root), INTAKE_ACCEPTED);
    close(root);
    turn(door);
  }
  for (unsigned i = 0; i < INTAKE_CONNECTIONS_MAX; i++) close(sockets[i]);
}

static void pass(const struct door *door, unsigned ms) {
  const struct timeval time = {.tv_usec = (suseconds_t)(ms * 1000)};
  event_base_loopexit(door->loop, &time);
  event_base_dispatch(door->loop);
}

static void who_says_nothing_loses_his_place(void **state) {
  struct door *door = *state;
  int silent = call_as(door, MODEST), told = call_as(door, MODEST);
  say(door, told);
  assert_int_equal(answer(told), INTAKE_ACCEPTED);
  pass(door, 4 * QUIET_MS);
  assert_int_equal(answer(silent), -1);
  assert_int_equal(answer(told), -1);
  assert_int_equal(door->closed, 2);
  close(silent);
  close(told);
}

static void who_waits_for_an_answer_keeps_it(void **state) {
  struct door *door = *state;
  int runner = call_as(door, MODEST);
  ask(door, runner, INTAKE_FLUSH);
  pass(door, 4 * QUIET_MS);
  assert_int_equal(door->closed, 0);
  intake_accept(door->flush);
  assert_int_equal(answer(runner), INTAKE_ACCEPTED);
  pass(door, 4 * QUIET_MS);
  assert_int_equal(answer(runner), -1);
  close(runner);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(who_has_had_his_share_is_told_to_ask_again, set_up,
                                      tear_down),
      cmocka_unit_test_setup_teardown(others_are_served_meanwhile, set_up, tear_down),
      cmocka_unit_test_setup_teardown(whose_share_ends_while_he_is_connected_is_told_too, set_up,
                                      tear_down),
      cmocka_unit_test_setup_teardown(what_he_asks_is_booked_on_him, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_users_own_daemon_knows_no_share, set_up_own, tear_down),
      cmocka_unit_test_setup_teardown(all_who_wait_are_let_in_before_one_is_heard, set_up,
                                      tear_down),
      cmocka_unit_test_setup_teardown(an_agent_asks_once, set_up, tear_down),
      cmocka_unit_test_setup_teardown(root_is_heard_where_strangers_have_taken_all_places, set_up,
                                      tear_down),
      cmocka_unit_test_setup_teardown(who_says_nothing_loses_his_place, set_up_hasty, tear_down),
      cmocka_unit_test_setup_teardown(who_waits_for_an_answer_keeps_it, set_up_hasty, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
