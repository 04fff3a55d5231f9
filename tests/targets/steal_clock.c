/* SPDX-License-Identifier: Apache-2.0 */
/* Simulates a hypervisor that steals a fifth of all busy time, for programs started with this
   library preloaded. CPU clocks, getrusage, wait4 and /proc/PID/stat return four fifths of the
   kernel's figures. The line of all CPUs in /proc/stat reports the rest as steal time. The clock of
   perf events is unchanged, as in a guest whose kernel accounts steal time. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BILLED = 4, COUNTED = 5 };

static void scale_time(struct timeval *time) {
  long long us = (time->tv_sec * 1000000LL + time->tv_usec) * BILLED / COUNTED;
  *time = (struct timeval){us / 1000000, us % 1000000};
}

static void scale_usage(struct rusage *usage) {
  scale_time(&usage->ru_utime);
  scale_time(&usage->ru_stime);
}

int getrusage(__rusage_who_t who, struct rusage *usage) {
  int code = (int)syscall(SYS_getrusage, who, usage);
  if (code == 0) scale_usage(usage);
  return code;
}

pid_t wait4(pid_t pid, int *status, int options, struct rusage *usage) {
  pid_t found = (pid_t)syscall(SYS_wait4, pid, status, options, usage);
  if (found > 0 && usage != NULL) scale_usage(usage);
  return found;
}

int clock_gettime(clockid_t clock, struct timespec *ret) {
  int (*real)(clockid_t, struct timespec *) = dlsym(RTLD_NEXT, "clock_gettime");
  int code = real(clock, ret);
  bool is_cpu = clock < 0 || clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID;
  if (code != 0 || !is_cpu) return code;
  long long ns = (ret->tv_sec * 1000000000LL + ret->tv_nsec) * BILLED / COUNTED;
  *ret = (struct timespec){ns / 1000000000, ns % 1000000000};
  return code;
}

/* "PID (NAME) S ..." with its fields 14 to 17, which are CPU times, scaled. */
static void scale_stat(const char *text, FILE *out) {
  enum { FIRST = 14, LAST = 17, STATE = 3 };
  const char *at = strrchr(text, ')');
  if (at == NULL) return;
  fprintf(out, "%.*s", (int)(at + 1 - text), text);
  for (int field = STATE; *++at == ' '; field++) {
    int len = (int)strcspn(at + 1, " \n");
    if (field < FIRST || field > LAST)
      fprintf(out, " %.*s", len, at + 1);
    else
      fprintf(out, " %llu", strtoull(at + 1, NULL, 10) * BILLED / COUNTED);
    at += len;
  }
  fputc('\n', out);
}

/* Scales "cpu  USER NICE SYSTEM IDLE IOWAIT IRQ SOFTIRQ STEAL"; the fields after these are dropped.
 */
static void scale_board(const char *text, FILE *out) {
  enum { IDLE = 3, IOWAIT = 4, STEAL = 7, FIELDS };
  unsigned long long ticks[FIELDS] = {0}, taken = 0;
  char *at = (char *)text + 4;
  for (int i = 0; i < FIELDS; i++) {
    ticks[i] = strtoull(at, &at, 10);
    if (i == IDLE || i == IOWAIT || i == STEAL) continue;
    taken += ticks[i] - ticks[i] * BILLED / COUNTED;
    ticks[i] = ticks[i] * BILLED / COUNTED;
  }
  ticks[STEAL] += taken;
  fputs("cpu ", out);
  for (int i = 0; i < FIELDS; i++) fprintf(out, " %llu", ticks[i]);
  fputc('\n', out);
}

ssize_t read(int fd, void *buf, size_t len) {
  char link[32], path[64] = "", text[4096] = "", scaled[4096] = "";
  ssize_t got = syscall(SYS_read, fd, buf, len);
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  if (got <= 0 || (size_t)got >= sizeof text) return got;
  if (readlink(link, path, sizeof path - 1) < 0 || strncmp(path, "/proc/", 6) != 0) return got;
  char *end = strrchr(path, '/');
  if (strcmp(end, "/stat") != 0) return got;
  memcpy(text, buf, (size_t)got);
  FILE *out = fmemopen(scaled, sizeof scaled, "w");
  if (end == path + 5)
    scale_board(text, out);
  else
    scale_stat(text, out);
  fclose(out);
  size_t size = strlen(scaled);
  if (size == 0 || size > len) return got;
  memcpy(buf, scaled, size);
  return (ssize_t)size;
}
