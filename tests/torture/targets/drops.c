/* SPDX-License-Identifier: Apache-2.0 */
/* A server's start: chroot into an empty folder, drop root for good, then continue with threads and
   forks without /proc, libraries and privileges.

     drops FOLDER UID MS [hidden]     hidden: not dumpable either */
#include <grp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double ms;
static volatile uint64_t sink;

static void *burn(void *unused) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  double until = (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6 + ms;
  do {
    for (int i = 0; i < 100000; i++) sink += (uint64_t)i;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  } while ((double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6 < until);
  return unused;
}

static int give_up(const char *folder, unsigned user) {
  if (geteuid() != 0) return 0;
  if (chroot(folder) != 0 || chdir("/") != 0) return -1;
  if (setgroups(0, NULL) != 0 || setgid((gid_t)user) != 0) return -1;
  return setuid((uid_t)user);
}

int main(int argc, char **argv) {
  if (argc < 4) return 2;
  ms = strtod(argv[3], NULL);
  if (give_up(argv[1], (unsigned)strtoul(argv[2], NULL, 10)) != 0) return 1;
  if (argc > 4) prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  pthread_t thread;
  pthread_create(&thread, NULL, burn, NULL);
  pid_t child = fork();
  if (child == 0) {
    burn(NULL);
    _exit(0);
  }
  burn(NULL);
  pthread_join(thread, NULL);
  int status = -1;
  waitpid(child, &status, 0);
  printf("uid %u of %u, /proc %s, child %d\n", getuid(), geteuid(),
         access("/proc/self", F_OK) == 0 ? "is there" : "is not there", status);
  return 0;
}
