/* SPDX-License-Identifier: Apache-2.0 */
/* The sandbox of the process that parses untrusted uploads.

   The process keeps its memory, its input bytes, write() to open descriptors, and exit. It cannot
   open files or sockets, exec, fork, signal other processes, or map executable memory. The file is
   already mapped, so even read() is not needed.

   A denied call returns EPERM instead of killing. C libraries make harmless calls (getrandom, rseq,
   prlimit) that differ by version, and a valid file must not be rejected because of the library
   version.

   Memory has two limits: RLIMIT_DATA bounds allocations, RLIMIT_AS also the mapped file. Both are
   relative to the process's use at entry, which is large if it was forked late from a large
   process. Sanitizers reserve terabytes, so sanitizer builds have no memory limits
   (SANDBOX_IS_MEMORY_LIMITED is 0). */
#include "sandbox.h"

#include "proto/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#define ALLOCATED_BYTES_MAX (1ULL << 30)
#define ADDRESS_BYTES_MAX (LIMIT_DEBUG_FILE_BYTES + (3ULL << 29))

enum {
  /* The CPU limit grows with the file's length: dozens of times the reading time, for slow
     machines. A small file that needs much more is built to do so, and other jobs wait behind
     it. */
  CPU_SECONDS_MIN = 5,
  CPU_SECONDS_MAX = 60,
  BYTES_A_CPU_SECOND = 4 << 20,
  FILES_MAX = 8, /* nothing new can be opened anyway */
};

struct memory_use {
  rlim_t address_bytes, allocated_bytes;
};

static int read_memory_use(struct memory_use *ret) {
  char text[256];
  int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -errno;
  ssize_t len = read(fd, text, sizeof text - 1);
  close(fd);
  if (len <= 0) return -EIO;
  text[len] = '\0';
  unsigned long long size, stack_and_heap;
  if (sscanf(text, "%llu %*u %*u %*u %*u %llu", &size, &stack_and_heap) != 2) return -EIO;
  rlim_t page_bytes = (rlim_t)sysconf(_SC_PAGESIZE);
  *ret = (struct memory_use){size * page_bytes, stack_and_heap * page_bytes};
  return 0;
}

static int limit(int resource, rlim_t value) {
  struct rlimit bound = {value, value};
  /* Over the soft CPU limit the kernel sends SIGXCPU, which identifies the cause; SIGKILL does
     not. */
  if (resource == RLIMIT_CPU) bound.rlim_max++;
  return setrlimit((__rlimit_resource_t)resource, &bound) == 0 ? 0 : -errno;
}

static int limit_memory(void) {
  struct memory_use use;
  int error = read_memory_use(&use);
  if (error == 0) error = limit(RLIMIT_DATA, use.allocated_bytes + ALLOCATED_BYTES_MAX);
  if (error == 0) error = limit(RLIMIT_AS, use.address_bytes + ADDRESS_BYTES_MAX);
  return error;
}

static int set_limits(uint64_t file_bytes) {
  uint64_t seconds = CPU_SECONDS_MIN + file_bytes / BYTES_A_CPU_SECOND;
  if (seconds > CPU_SECONDS_MAX) seconds = CPU_SECONDS_MAX;
  int error = SANDBOX_IS_MEMORY_LIMITED ? limit_memory() : 0;
  if (error == 0) error = limit(RLIMIT_CORE, 0); /* a dump would contain inherited memory */
  if (error == 0) error = limit(RLIMIT_CPU, seconds);
  if (error == 0) error = limit(RLIMIT_NOFILE, FILES_MAX);
  if (error == 0) error = limit(RLIMIT_FSIZE, LIMIT_DEBUG_FILE_BYTES);
  return error;
}

static const int allowed[] = {
    SCMP_SYS(write),           SCMP_SYS(close),       SCMP_SYS(exit),
    SCMP_SYS(exit_group),      SCMP_SYS(brk),         SCMP_SYS(munmap),
    SCMP_SYS(mremap),          SCMP_SYS(madvise),     SCMP_SYS(futex),
    SCMP_SYS(rt_sigreturn),    SCMP_SYS(sigreturn),   SCMP_SYS(clock_gettime),
    SCMP_SYS(getpid),          SCMP_SYS(gettid),      SCMP_SYS(sched_yield),
    SCMP_SYS(getrandom),       SCMP_SYS(sigaltstack), SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(restart_syscall),
};

/* Calls that may only request memory that is not executable. */
static const int memory_calls[] = {SCMP_SYS(mmap), SCMP_SYS(mmap2), SCMP_SYS(mprotect)};

static int add_rules(scmp_filter_ctx filter) {
  int error = 0;
  for (size_t i = 0; error == 0 && i < sizeof allowed / sizeof allowed[0]; i++)
    error = seccomp_rule_add(filter, SCMP_ACT_ALLOW, allowed[i], 0);
  const struct scmp_arg_cmp no_exec = SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0);
  for (size_t i = 0; error == 0 && i < sizeof memory_calls / sizeof memory_calls[0]; i++)
    error = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, memory_calls[i], 1, &no_exec);
  return error;
}

int sandbox_enter(uint64_t file_bytes) {
  int error = set_limits(file_bytes);
  if (error != 0) return error;
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -errno;
  scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
  if (filter == NULL) return -ENOMEM;
  error = add_rules(filter);
  if (error == 0) error = seccomp_load(filter);
  seccomp_release(filter);
  return error;
}
