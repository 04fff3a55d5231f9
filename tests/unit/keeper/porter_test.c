/* SPDX-License-Identifier: Apache-2.0 */
#include "keeper/porter.h"

#include "intake/intake_format.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* Runs each due check until a caller is turned away, or until END_MS. Returns the time of that. */
static uint64_t look_until(struct porter *porter, uint64_t begin_ms, uint64_t end_ms) {
  uint64_t now_ms = begin_ms;
  while (now_ms < end_ms) {
    if (porter_judge(porter, true, porter->let_in, now_ms)) return now_ms;
    now_ms = porter->due_ms;
  }
  return end_ms;
}

static void who_waits_while_nobody_is_let_in_is_turned_away(void **state) {
  (void)state;
  struct porter porter = {.let_in = 7};
  uint64_t at_ms = look_until(&porter, 1000, 5000);
  assert_int_equal(at_ms, 1000 + PORTER_LOOKS * PORTER_LOOK_MS);
  assert_true(porter.is_hung);
  assert_int_equal(porter.due_ms, 0); /* the next caller is noticed on arrival */
}

static void after_that_nobody_waits_longer_than_the_grace(void **state) {
  (void)state;
  struct porter porter = {.let_in = 7, .is_hung = true};
  assert_int_equal(look_until(&porter, 1000, 5000), 1000 + PORTER_GRACE_MS);
}

static void a_slow_worker_is_left_alone_however_many_wait(void **state) {
  (void)state;
  struct porter porter = {0};
  uint64_t let_in = 0;
  for (uint64_t now_ms = 1000; now_ms < 60000; now_ms = porter.due_ms) {
    let_in += now_ms % (PORTER_LOOK_MS * (PORTER_LOOKS - 1)) == 0;
    assert_false(porter_judge(&porter, true, let_in, now_ms));
  }
}

static void a_worker_that_lets_somebody_in_is_back(void **state) {
  (void)state;
  struct porter porter = {.let_in = 7, .is_hung = true};
  assert_false(porter_judge(&porter, true, 8, 1000));
  assert_false(porter.is_hung);
  assert_int_equal(look_until(&porter, porter.due_ms, 5000), 1000 + PORTER_LOOKS * PORTER_LOOK_MS);
}

static void nobody_before_the_door_is_nothing_to_look_at(void **state) {
  (void)state;
  struct porter porter = {.let_in = 7};
  porter_judge(&porter, true, 7, 1000);
  assert_false(porter_judge(&porter, false, 7, 1010));
  assert_int_equal(porter.due_ms, 0);
  assert_int_equal(look_until(&porter, 2000, 5000), 2000 + PORTER_LOOKS * PORTER_LOOK_MS);
}

static int listen_somewhere(struct sockaddr_un *ret, socklen_t *ret_len) {
  int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  *ret = (struct sockaddr_un){.sun_family = AF_UNIX}; /* the kernel gives it a name */
  assert_int_equal(bind(listener, (struct sockaddr *)ret, sizeof ret->sun_family), 0);
  *ret_len = sizeof *ret;
  assert_int_equal(getsockname(listener, (struct sockaddr *)ret, ret_len), 0);
  assert_int_equal(listen(listener, 4), 0);
  return listener;
}

static void a_caller_hears_that_the_daemon_is_busy_although_nothing_was_read(void **state) {
  (void)state;
  struct sockaddr_un address;
  socklen_t len;
  struct porter porter;
  struct intake_request request = {.magic = INTAKE_MAGIC};
  struct intake_reply reply;
  int listener = listen_somewhere(&address, &len);
  int caller = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  assert_int_equal(connect(caller, (struct sockaddr *)&address, len), 0);
  assert_int_equal(send(caller, &request, sizeof request, 0), sizeof request);
  porter_open(&porter, listener);
  porter.is_hung = true;
  porter_look(&porter, 1000);
  assert_int_equal(recv(caller, &reply, sizeof reply, MSG_DONTWAIT), -1); /* the grace */
  porter_look(&porter, porter.due_ms);
  assert_int_equal(recv(caller, &reply, sizeof reply, MSG_DONTWAIT), -1);
  assert_int_equal(errno, ECONNRESET);
  assert_int_equal(recv(caller, &reply, sizeof reply, MSG_DONTWAIT), sizeof reply);
  assert_int_equal(reply.magic, INTAKE_MAGIC);
  assert_int_equal(reply.kind, INTAKE_BUSY);
  assert_int_equal(recv(caller, &reply, sizeof reply, MSG_DONTWAIT), 0);
  porter_close(&porter);
  close(caller);
  close(listener);
}

/* Connects, sends a request of KIND (0: nothing), and is turned away. Returns the number of
   programs counted then. */
static uint64_t away_after(struct porter *porter, const struct sockaddr_un *address, socklen_t len,
                           unsigned kind) {
  struct intake_request request = {.magic = INTAKE_MAGIC, .kind = (uint16_t)kind};
  int caller = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  assert_int_equal(connect(caller, (const struct sockaddr *)address, len), 0);
  if (kind != 0) assert_int_equal(send(caller, &request, sizeof request, 0), sizeof request);
  porter_look(porter, 1000);
  porter_look(porter, porter->due_ms);
  assert_int_equal(porter->due_ms, 0); /* no caller waits any more */
  close(caller);
  return porter_turned_away(porter->tally);
}

static void programs_that_are_turned_away_are_counted_and_no_commands(void **state) {
  (void)state;
  struct sockaddr_un address;
  socklen_t len;
  struct porter porter;
  int listener = listen_somewhere(&address, &len);
  porter_open(&porter, listener);
  porter.is_hung = true;
  assert_int_equal(away_after(&porter, &address, len, INTAKE_TARGET), 1);
  assert_int_equal(away_after(&porter, &address, len, INTAKE_STATUS), 1);
  assert_int_equal(away_after(&porter, &address, len, INTAKE_TARGET), 2);
  assert_int_equal(away_after(&porter, &address, len, 0), 3); /* it sends its request too late */
  porter_close(&porter);
  close(listener);
  assert_int_equal(porter_turned_away(NULL), 0);
}

static void what_the_worker_notes_the_keeper_sees(void **state) {
  (void)state;
  struct porter porter;
  porter_open(&porter, -1);
  if (fork() == 0) {
    porter_note(porter.tally);
    _exit(0);
  }
  assert_true(wait(NULL) > 0);
  assert_int_equal(atomic_load(&porter.tally->let_in), 1);
  porter_close(&porter);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(who_waits_while_nobody_is_let_in_is_turned_away),
      cmocka_unit_test(after_that_nobody_waits_longer_than_the_grace),
      cmocka_unit_test(a_slow_worker_is_left_alone_however_many_wait),
      cmocka_unit_test(a_worker_that_lets_somebody_in_is_back),
      cmocka_unit_test(nobody_before_the_door_is_nothing_to_look_at),
      cmocka_unit_test(a_caller_hears_that_the_daemon_is_busy_although_nothing_was_read),
      cmocka_unit_test(programs_that_are_turned_away_are_counted_and_no_commands),
      cmocka_unit_test(what_the_worker_notes_the_keeper_sees),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
