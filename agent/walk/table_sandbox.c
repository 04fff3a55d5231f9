/* SPDX-License-Identifier: Apache-2.0 */
/* A forked child has its parent's shared memory, where its writes would affect others. So all of
   that is unmapped first, as listed by the kernel. (MADV_DONTFORK on each mapping would miss
   mappings that are not marked, and the worker is itself a fork that needs them.)

   Once all files are open and mapped, the child drops its rights. A forbidden call fails with an
   error and has no other effect: parsing a file needs none. A system call number is meaningful only
   within one ABI, so the filter first checks for the CPU's own ABI. */
#include "table_sandbox.h"

#include "unwind/unwind_arch.h"

#include <errno.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NOBODY = 65534 };

static const uint32_t calls[] = {
    SYS_write,
    SYS_exit_group,
    SYS_brk,
    SYS_munmap,
    SYS_mremap,
    SYS_mprotect,
    SYS_madvise,
    SYS_futex,
    SYS_rt_sigreturn,
    /* Sanitizers need these two when a process ends. */
    SYS_gettid,
    SYS_sigaltstack,
#ifdef SYS_mmap
    SYS_mmap,
#endif
#ifdef SYS_mmap2
    SYS_mmap2,
#endif
#ifdef SYS_sigreturn
    SYS_sigreturn,
#endif
};

enum {
  CALLS = sizeof calls / sizeof *calls,
  HEAD = 3,     /* the ABI check, and loading the call's number */
  PRIORITY = 5, /* for this process only */
  TAIL = 2,
  DENY = HEAD + CALLS + PRIORITY,
  ALLOW = DENY + 1,
};

int table_sandbox_unshare(void) {
  char line[512], access[5];
  unsigned long start, end;
  int error = 0;
  FILE *maps = fopen("/proc/self/maps", "re");
  if (maps == NULL) return -errno;
  while (!error && fgets(line, sizeof line, maps) != NULL) {
    if (sscanf(line, "%lx-%lx %4s", &start, &end, access) != 3) continue;
    if (access[1] != 'w' || access[3] != 's') continue;
    if (munmap((void *)start, end - start) < 0) error = -errno;
  }
  fclose(maps);
  return error;
}

static struct sock_filter load(size_t offset) {
  return (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset);
}

/* A BPF instruction for index AT: continues at THEN if the word is VALUE, else at OTHERWISE. */
static struct sock_filter if_is(uint32_t value, unsigned at, unsigned then, unsigned otherwise) {
  return (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, (uint8_t)(then - at - 1),
                                      (uint8_t)(otherwise - at - 1));
}

static uint32_t audit_arch(void) {
  uint32_t arch = unwind_arch.machine | __AUDIT_ARCH_LE;
  return sizeof(long) == 8 ? arch | __AUDIT_ARCH_64BIT : arch;
}

static void filter_calls(void) {
  struct sock_filter code[HEAD + CALLS + PRIORITY + TAIL];
  struct sock_fprog program = {sizeof code / sizeof *code, code};
  unsigned at = 0;
  const size_t args = offsetof(struct seccomp_data, args);
  code[at++] = load(offsetof(struct seccomp_data, arch));
  code[at] = if_is(audit_arch(), at, at + 1, DENY), at++;
  code[at++] = load(offsetof(struct seccomp_data, nr));
  for (unsigned i = 0; i < CALLS; i++, at++) code[at] = if_is(calls[i], at, ALLOW, at + 1);
  code[at] = if_is(SYS_setpriority, at, at + 1, DENY), at++;
  code[at++] = load(args);
  code[at] = if_is(PRIO_PROCESS, at, at + 1, DENY), at++;
  code[at++] = load(args + sizeof(uint64_t));
  code[at] = if_is(0, at, ALLOW, DENY), at++;
  code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
  code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  program.len = (unsigned short)at;
  prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

void table_sandbox_enter(void) {
  if (geteuid() == 0) {
    /* In this order, because the last step removes the right to the others. If they fail (a
       namespace without nobody), the filter remains. */
    int failed = setgroups(0, NULL) | setresgid(NOBODY, NOBODY, NOBODY);
    failed |= setresuid(NOBODY, NOBODY, NOBODY);
    (void)failed;
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* cleared by the change of uid */
  }
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  filter_calls();
}
