/* SPDX-License-Identifier: Apache-2.0 */
/* The software task clock is the only event that every kernel has, virtual machines included.  An
   hrtimer drives it, so the requested rate is the actual rate at any CONFIG_HZ.  It needs no
   privilege up to perf_event_paranoid 2 if it is for user mode only.

   The target's event starts at the exec, so neither the dynamic loader of `fleetprof run` nor the
   wait for the daemon is counted.  `inherit` includes all later threads and children.  An inherited
   event can be mapped only if it is bound to a CPU: hence one event per CPU.

   Events of equal period would interrupt threads that start together at the same points of their
   work.  So each is opened with its own period, and the daemon keeps varying it (targets/stride.c).

   With a copy of the stack, the daemon finds the callers from tables, because programs are built
   without frame pointers.  The kernel's chain along frame pointers is included: it covers the part
   beyond the copy, and the other stacks of a program that switches stacks.

   An anchor is the same event on the daemon itself, never enabled: it only owns the ring. */
#include "perf_attr.h"
#include "perf_regs.h"
#include "unwind_choice.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

static void fill(struct perf_event_attr *attr) {
  memset(attr, 0, sizeof(*attr));
  attr->size = sizeof(*attr);
  attr->type = PERF_TYPE_SOFTWARE;
  attr->config = PERF_COUNT_SW_TASK_CLOCK;
  attr->sample_type = PERF_ATTR_SAMPLE_TYPE;
  attr->sample_id_all = 1;
  attr->disabled = 1;
  attr->exclude_kernel = 1;
  attr->exclude_hv = 1;
  attr->exclude_callchain_kernel = 1;
  attr->sample_max_stack = PERF_ATTR_STACK_DEPTH;
}

/* Events of a process that change the meaning of its addresses. */
static void follow_processes(struct perf_event_attr *attr) {
  attr->mmap = 1;
  attr->mmap2 = 1;
  attr->comm = 1;
  attr->comm_exec = 1;
  attr->task = 1;
}

void perf_attr_fill(struct perf_event_attr *ret, uint64_t period_ns) {
  fill(ret);
  ret->sample_period = period_ns;
  ret->inherit = 1;
  ret->enable_on_exec = 1;
  follow_processes(ret);
}

void perf_attr_fill_board(struct perf_event_attr *ret, uint64_t period_ns) {
  fill(ret);
  ret->config = PERF_COUNT_SW_CPU_CLOCK;
  ret->sample_period = period_ns;
  ret->exclude_idle = 1;
  follow_processes(ret);
}

void perf_attr_widen(struct perf_event_attr *attr) {
  attr->config = PERF_COUNT_SW_CPU_CLOCK;
  attr->inherit = 0;
  attr->enable_on_exec = 0;
  attr->exclude_idle = 1;
}

void perf_attr_vary(struct perf_event_attr *attr) {
  enum { PART = 50 };
  uint64_t random, most_ns = attr->sample_period / PART;
  if (getrandom(&random, sizeof random, GRND_NONBLOCK) != (ssize_t)sizeof random) return;
  attr->sample_period += random % (2 * most_ns + 1) - most_ns;
}

static uint32_t copy_bytes(uint64_t period_ns) {
  const uint64_t second_ns = 1000000000, most = PERF_ATTR_COPY_BYTES_MAX;
  uint64_t bytes =
      period_ns < second_ns ? PERF_ATTR_COPY_BYTES_A_SECOND * period_ns / second_ns : most;
  if (bytes > most) return PERF_ATTR_COPY_BYTES_MAX;
  if (bytes < PERF_ATTR_COPY_BYTES_MIN) return PERF_ATTR_COPY_BYTES_MIN;
  return (uint32_t)bytes & ~7U;
}

static void ask_registers(struct perf_event_attr *attr, uint64_t mask, uint32_t stack_bytes) {
  attr->sample_type |= PERF_SAMPLE_REGS_USER;
  attr->sample_regs_user = mask;
  if (stack_bytes == 0) return;
  attr->sample_type |= PERF_SAMPLE_STACK_USER;
  attr->sample_stack_user = stack_bytes;
}

/* The program's part of the chain is useful only if CONTENT has callers. */
static void ask_kernel(struct perf_event_attr *attr, enum perf_content content) {
  enum perf_content callers = perf_content_callers(content);
  attr->exclude_kernel = 0;
  attr->exclude_callchain_kernel = 0;
  attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
  attr->exclude_callchain_user = callers == PERF_CONTENT_PAIR || callers == PERF_CONTENT_PC;
}

void perf_attr_ask(struct perf_event_attr *attr, enum perf_content content) {
  bool has_kernel = content & PERF_CONTENT_KERNEL;
  attr->sample_type = PERF_ATTR_SAMPLE_HEAD;
  if (has_kernel) ask_kernel(attr, content);
  switch (perf_content_callers(content)) {
  case PERF_CONTENT_PAIR:
    ask_registers(attr, perf_regs.mask, perf_regs.stack_bytes);
    return;
  case PERF_CONTENT_COPY:
    attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
    ask_registers(attr, perf_walk_regs.mask, copy_bytes(attr->sample_period));
    return;
  case PERF_CONTENT_PC:
    return;
  default:
    attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
    return;
  }
}

/* Whether this kernel permits the caller events with these samples. */
static bool can_open(enum perf_content content) {
  struct perf_event_attr attr;
  perf_attr_fill_anchor(&attr);
  perf_attr_ask(&attr, content);
  int fd = perf_attr_open(&attr, 0, -1);
  if (fd >= 0) close(fd);
  return fd >= 0;
}

bool perf_attr_may_see_kernel(void) {
  return can_open((enum perf_content)(PERF_CONTENT_PC | PERF_CONTENT_KERNEL));
}

enum perf_content perf_attr_content(bool is_pair, uint32_t choice) {
  if (is_pair) return PERF_CONTENT_PAIR;
  if (choice == UNWIND_CHOICE_NONE) return PERF_CONTENT_PC;
  if (choice == UNWIND_CHOICE_FP) return PERF_CONTENT_CHAIN;
  return can_open(PERF_CONTENT_COPY) ? PERF_CONTENT_COPY : PERF_CONTENT_CHAIN;
}

void perf_attr_wait_for_enable(struct perf_event_attr *attr) {
  attr->enable_on_exec = 0; /* it stays `disabled` */
}

void perf_attr_fill_anchor(struct perf_event_attr *ret) {
  fill(ret);
  ret->sample_period = 1000000000; /* never runs, but the kernel requires a period */
}

/* Without a period there are no samples; sample_type still defines the trailer of other records. */
void perf_attr_fill_exits(struct perf_event_attr *ret) {
  fill(ret);
  ret->inherit = 1;
  ret->inherit_stat = 1;
  ret->enable_on_exec = 1;
}

void perf_attr_fill_exits_anchor(struct perf_event_attr *ret) {
  fill(ret);
}

static int open_event(struct perf_event_attr *attr, pid_t pid, int cpu) {
  long fd = syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
  return fd >= 0 ? (int)fd : -errno;
}

int perf_attr_open(const struct perf_event_attr *attr, pid_t pid, int cpu) {
  struct perf_event_attr copy = *attr;
  int fd = open_event(&copy, pid, cpu);
  if (fd != -E2BIG && fd != -EOVERFLOW && fd != -EINVAL) return fd;
  copy.sample_max_stack = 0;
  return open_event(&copy, pid, cpu);
}

int perf_attr_open_exits(pid_t pid, bool is_running, int ret_fds[2]) {
  struct perf_event_attr anchor, exits;
  perf_attr_fill_exits_anchor(&anchor);
  perf_attr_fill_exits(&exits);
  if (is_running) perf_attr_wait_for_enable(&exits);
  int first = perf_attr_open(&anchor, pid, -1);
  if (first < 0) return first;
  int second = perf_attr_open(&exits, pid, -1);
  if (second < 0) {
    close(first);
    return second;
  }
  ret_fds[0] = first;
  ret_fds[1] = second;
  return 0;
}
