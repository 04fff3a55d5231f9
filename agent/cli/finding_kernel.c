/* SPDX-License-Identifier: Apache-2.0 */
/* No conclusion rests on a version or a setting alone.  The checks open the events, map the ring
   and run the timer, now and as this user.  A setting is named only in the reason.

   A missing perf sampler is a warning, because the timer sampler replaces it.  A missing timer is a
   warning if perf works. */
#include "elf/kernel_layout.h"
#include "finding.h"
#include "intake/cpu_list.h"
#include "intake/perf_attr.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum {
  PERIOD_NS = 1000000, /* 1 kHz: faster than the tick of most kernels */
  BURN_NS = 250000000, /* CPU time over which ticks are counted */
  RING_PAGES = 1 + 16, /* as large as a small daemon's ring */
  TICK_MIN = 90,       /* ticks a second; below it 99 Hz is not reached */
  SIGNAL_OFFSET = 4,   /* from the last real-time signal; next to the sampler's */
};

static volatile sig_atomic_t expiries;

static long read_number(const char *path) {
  long value = -1;
  FILE *file = fopen(path, "re");
  if (file == NULL) return value;
  if (fscanf(file, "%ld", &value) != 1) value = -1;
  fclose(file);
  return value;
}

static int open_event(bool is_anchor) {
  static struct cpu_list cpus;
  struct perf_event_attr attr;
  int error = cpu_list_online(&cpus);
  if (error != 0) return error;
  if (is_anchor)
    perf_attr_fill_anchor(&attr);
  else
    perf_attr_fill(&attr, PERIOD_NS);
  return perf_attr_open(&attr, 0, cpus.cpus[0]);
}

void finding_perf_events(const struct patient *patient, struct finding *ret) {
  (void)patient;
  long paranoid = read_number("/proc/sys/kernel/perf_event_paranoid");
  int fd = open_event(false);
  if (fd >= 0) {
    finding_set(ret, FINDING_PASS, "can be opened (perf_event_paranoid is %ld)", paranoid);
    close(fd);
    return;
  }
  finding_set(ret, FINDING_WARN, "%s (perf_event_paranoid is %ld); programs are sampled by timer",
              strerror(-fd), paranoid);
  if (fd == -EACCES || fd == -EPERM)
    finding_mend(ret, "sysctl kernel.perf_event_paranoid=2, or a seccomp filter (container) that "
                      "allows perf_event_open");
  else
    finding_mend(ret, "a kernel with CONFIG_PERF_EVENTS");
}

void finding_perf_ring(const struct patient *patient, struct finding *ret) {
  (void)patient;
  long limit_kib = read_number("/proc/sys/kernel/perf_event_mlock_kb");
  int fd = open_event(true);
  if (fd < 0) {
    finding_set(ret, FINDING_WARN, "not tried, as no event can be opened");
    return;
  }
  size_t size = RING_PAGES * (size_t)sysconf(_SC_PAGESIZE);
  void *ring = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  int error = errno;
  close(fd);
  if (ring != MAP_FAILED) {
    munmap(ring, size);
    finding_set(ret, FINDING_PASS, "can be mapped (%ld KiB a CPU for each user)", limit_kib);
    return;
  }
  finding_set(ret, FINDING_WARN, "%s (perf_event_mlock_kb is %ld); programs are sampled by timer",
              strerror(error), limit_kib);
  finding_mend(ret, "end other profilers of this user, or sysctl kernel.perf_event_mlock_kb=516");
}

static void on_expiry(int signal) {
  (void)signal;
  expiries++;
}

static int64_t thread_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Runs a timer of PERIOD_NS over BURN_NS of CPU time.  Returns 0 with its signals per second. */
static int count_expiries(long *ret_rate) {
  int number = SIGRTMAX - SIGNAL_OFFSET;
  struct sigaction ours = {.sa_handler = on_expiry, .sa_flags = SA_RESTART}, before;
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = number};
  struct itimerspec times = {{0, PERIOD_NS}, {0, PERIOD_NS}};
  timer_t timer;
  sigaction(number, &ours, &before);
  if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) != 0) {
    int error = -errno;
    sigaction(number, &before, NULL);
    return error;
  }
  int64_t start = thread_ns();
  timer_settime(timer, 0, &times, NULL);
  while (thread_ns() - start < BURN_NS) continue;
  timer_delete(timer);
  sigaction(number, &before, NULL);
  *ret_rate = (long)expiries * (1000000000L / BURN_NS);
  return 0;
}

void finding_cpu_timers(const struct patient *patient, struct finding *ret) {
  (void)patient;
  long rate = 0;
  int error = count_expiries(&rate);
  if (error == -EAGAIN) {
    finding_set(ret, FINDING_FAIL, "this user's queued signals are used up (ulimit -i)");
    finding_mend(ret, "raise RLIMIT_SIGPENDING, or end programs that hold many timers");
  } else if (error != 0) {
    finding_set(ret, FINDING_FAIL, "%s", strerror(-error));
    finding_mend(ret, "a kernel with CONFIG_POSIX_TIMERS; perf, where it works, needs none");
  } else if (rate < TICK_MIN) {
    finding_set(ret, FINDING_WARN, "%ld expiries a second where 1000 were asked for", rate);
    finding_mend(ret, "a kernel with CONFIG_HZ=250 or more; weights are right all the same");
  } else {
    finding_set(ret, FINDING_PASS,
                "expire as often as the kernel's tick allows; weights make up for what is missing");
  }
}

void finding_kernel_names(const struct patient *patient, struct finding *ret) {
  struct kernel_layout layout;
  (void)patient;
  int error = kernel_layout_read("", &layout);
  if (error == 0)
    finding_set(ret, FINDING_PASS, "the kernel and %u modules can be named", layout.count - 1);
  else if (error == -EACCES)
    finding_set(ret, FINDING_WARN,
                "the kernel hides its addresses from this user: all of it is one row, [kernel]");
  else
    finding_set(ret, FINDING_WARN, "%s: all of it is one row, [kernel]", layout.why);
  if (error == -EACCES)
    finding_mend(ret, "give the daemon CAP_SYSLOG, or sysctl kernel.kptr_restrict=0");
  kernel_layout_fini(&layout);
}

void finding_kernel_samples(const struct patient *patient, struct finding *ret) {
  (void)patient;
  long paranoid = read_number("/proc/sys/kernel/perf_event_paranoid");
  if (perf_attr_may_see_kernel()) {
    finding_set(ret, FINDING_PASS, "programs by perf show the kernel's functions");
    return;
  }
  int fd = open_event(false);
  if (fd < 0) {
    finding_set(ret, FINDING_WARN, "not tried, as no event can be opened");
    return;
  }
  close(fd);
  finding_set(ret, FINDING_WARN,
              "the kernel's part of a program is one row, [kernel]: this user may not sample it "
              "(perf_event_paranoid is %ld)",
              paranoid);
  finding_mend(ret, "run fleetprof as root, with CAP_PERFMON, or sysctl "
                    "kernel.perf_event_paranoid=1");
}
