/* SPDX-License-Identifier: Apache-2.0 */
/* renames HOW MILLISECONDS ROUNDS: a thread works in first_work while it is named "first", and half
   as long in second_work while it is named "second". HOW sets the name:

     self    by itself, with pthread_setname_np     prctl     by itself, with prctl
     other   by another thread                      file      through its file in /proc
     vfork   by itself, with prctl, and a vfork's child names itself "child" right after */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *how;
static double seconds;
static long rounds;
static const char *_Atomic wanted; /* requested by the thread, set by the other thread */
static volatile unsigned long sink;

__attribute__((noinline)) static double spin(double until) {
  struct timespec now;
  do {
    unsigned long x = sink;
    for (int i = 0; i < 20000; i++) x = x * 2862933555777941757UL + 3037000493UL;
    sink = x;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  } while ((double)now.tv_sec + (double)now.tv_nsec / 1e9 < until);
  return until;
}

__attribute__((noinline)) static double first_work(double until) {
  double end = spin(until);
  sink++;
  return end;
}

__attribute__((noinline)) static double second_work(double until) {
  double end = spin(until);
  sink += 2;
  return end;
}

static void write_file(const char *name) {
  char path[64];
  snprintf(path, sizeof path, "/proc/self/task/%ld/comm", syscall(SYS_gettid));
  int fd = open(path, O_WRONLY);
  if (fd < 0 || write(fd, name, strlen(name)) < 0) exit(1);
  close(fd);
}

static void name_a_child(void) {
  pid_t child = vfork();
  if (child == 0) {
    prctl(PR_SET_NAME, "child", 0, 0, 0);
    _exit(0);
  }
  if (child < 0 || waitpid(child, NULL, 0) != child) exit(1);
}

static void be_called(const char *name) {
  if (strcmp(how, "self") == 0) pthread_setname_np(pthread_self(), name);
  if (strcmp(how, "prctl") == 0 || strcmp(how, "vfork") == 0) prctl(PR_SET_NAME, name, 0, 0, 0);
  if (strcmp(how, "vfork") == 0) name_a_child();
  if (strcmp(how, "file") == 0) write_file(name);
  if (strcmp(how, "other") != 0) return;
  wanted = name;
  while (wanted != NULL) usleep(100);
}

static void *work(void *nothing) {
  double at = 0;
  for (long i = 0; i < rounds; i++) {
    be_called("first");
    at = first_work(at + 2 * seconds);
    be_called("second");
    at = second_work(at + seconds);
  }
  return nothing;
}

int main(int argc, char **argv) {
  pthread_t thread;
  if (argc != 4) return 2;
  how = argv[1];
  seconds = strtod(argv[2], NULL) / 1000;
  rounds = strtol(argv[3], NULL, 10);
  if (pthread_create(&thread, NULL, work, NULL) != 0) return 1;
  for (long i = 0; strcmp(how, "other") == 0 && i < 2 * rounds; i++) {
    while (wanted == NULL) usleep(100);
    pthread_setname_np(thread, wanted);
    wanted = NULL;
  }
  return pthread_join(thread, NULL) == 0 ? 0 : 1;
}
