/* SPDX-License-Identifier: Apache-2.0 */
/* A translator as a process: addresses into its stdin, lines out of its stdout. */
#ifndef TRANSLATE_CO_PROCESS_H
#define TRANSLATE_CO_PROCESS_H

#include "common/buf.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct co_process {
  pid_t pid;
  int in, out; /* this process's ends of its stdin and stdout; -1: closed */
};

/* Limits of each process of a confined translator. */
#define CO_MEMORY_BYTES_MAX ((size_t)4 << 30) /* of its own; mapped files do not count */
#define CO_FILE_BYTES_MAX ((size_t)1 << 30)   /* of a file that it writes */
enum { CO_FILES_MAX = 1024, CO_CPU_S_MAX = 3600 };

enum co_stop {
  CO_AT_END,    /* its input is closed after the questions; the answer is complete when it exits */
  CO_AT_LINES,  /* it keeps running; the answer is complete after STOP_COUNT lines */
  CO_AT_BLANKS, /* likewise, after STOP_COUNT empty lines */
};

struct co_talk {
  struct span questions;
  enum co_stop stop;
  size_t stop_count;
  unsigned quiet_ms;    /* without a byte in either direction: it hangs */
  uint64_t deadline_ns; /* on clock_monotonic_ns, of the whole exchange; 0: none */
  size_t answer_bytes_max;
  const int *cancel; /* a descriptor; the exchange ends once it is readable; NULL: none */
};

struct co_start {
  const char *command;          /* for /bin/sh -c */
  const char *const *variables; /* "NAME=value", ended by NULL: added to the environment */
  bool is_confined; /* without capabilities or a way to regain them; within the limits above; stderr
                       is /dev/null */
};

/* Starts a process group that inherits no descriptors except stderr. Safe beside other threads; the
   caller must ignore SIGPIPE. Returns 0 or -errno. */
int co_process_start(const struct co_start *start, struct co_process *ret);

/* Writes the questions while it reads ANSWERS (appended), so that neither side blocks the other.
   Returns 0; -ETIMEDOUT; -ECANCELED; -EOVERFLOW over answer_bytes_max; -ENOMEM; or -errno. Returns
   -EBADMSG if the process exits before STOP_COUNT, or has already written more. Only
   co_process_is_astray detects later output. */
int co_process_talk(struct co_process *process, const struct co_talk *talk, struct buf *answers);

/* Whether it has exited or written unrequested output. Never waits. */
bool co_process_is_astray(const struct co_process *process);

/* Closes both ends and reaps it. If it IS_DONE, it first has END_MS to exit by itself; then its
   group is killed. Returns the exit status, or -1 if it was killed. PROCESS is empty afterwards. */
int co_process_end(struct co_process *process, bool is_done);

#endif
