/* SPDX-License-Identifier: Apache-2.0 */
/* A process with another root or mount namespace is found, one of each kind; this process is not.
 */
#include "elf/other_roots.h"

#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum kind { PLAIN, CHROOT, MOUNTS };

static const char *dir;

static bool leave(enum kind kind) {
  if (kind == CHROOT) return chroot(dir) == 0 && chdir("/") == 0;
  return kind == PLAIN || unshare(CLONE_NEWNS) == 0;
}

/* A child of KIND, running when this returns; -1 if that is not permitted. */
static pid_t start(enum kind kind) {
  int ready[2];
  char byte = 0;
  assert_int_equal(pipe(ready), 0);
  pid_t pid = fork();
  if (pid == 0) {
    byte = leave(kind);
    if (write(ready[1], &byte, 1) != 1) _exit(1);
    for (;;) pause();
  }
  assert_true(pid > 0);
  assert_int_equal(read(ready[0], &byte, 1), 1);
  close(ready[0]);
  close(ready[1]);
  if (byte) return pid;
  kill(pid, SIGKILL);
  waitpid(pid, NULL, 0);
  return -1;
}

static unsigned count_of(const struct other_roots *roots, const pid_t *pids, int count) {
  unsigned found = 0;
  for (unsigned i = 0; i < roots->count; i++)
    for (int at = 0; at < count; at++) found += roots->pids[i] == pids[at];
  return found;
}

static void each_kind_of_files_is_found_once_and_ours_never(void **state) {
  char name[] = "/tmp/other-roots.XXXXXX";
  struct other_roots roots;
  (void)state;
  dir = mkdtemp(name);
  assert_non_null(dir);
  const pid_t pids[] = {start(PLAIN), start(CHROOT), start(CHROOT), start(MOUNTS)};
  other_roots_find(&roots);
  bool is_full = roots.count == OTHER_ROOTS_MAX; /* a busy board */
  unsigned plain = count_of(&roots, pids, 1), jailed = count_of(&roots, pids + 1, 2);
  unsigned apart = count_of(&roots, pids + 3, 1), own = count_of(&roots, (pid_t[]){getpid()}, 1);
  for (int i = 0; i < 4; i++)
    if (pids[i] > 0) kill(pids[i], SIGKILL), waitpid(pids[i], NULL, 0);
  rmdir(dir);
  assert_int_equal(plain + own, 0);
  if (is_full || pids[1] < 0 || pids[3] < 0) skip(); /* an ordinary user has neither */
  assert_int_equal(jailed, 1);
  assert_int_equal(apart, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_kind_of_files_is_found_once_and_ours_never),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
