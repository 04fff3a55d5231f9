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
  int in, out; /* our ends of its stdin and stdout; -1: closed */
};

/* What each process of one that is confined may take. */
#define CO_MEMORY_BYTES_MAX ((size_t)4 << 30) /* of its own; files that it maps do not count */
#define CO_FILE_BYTES_MAX ((size_t)1 << 30)   /* of a file that it writes */
enum { CO_FILES_MAX = 1024, CO_CPU_S_MAX = 3600 };

enum co_stop {
  CO_AT_END,    /* its input is closed behind the questions; it has answered when it ends */
  CO_AT_LINES,  /* it stays; it has answered when STOP_COUNT lines are there */
  CO_AT_BLANKS, /* the same of empty lines */
};

struct co_talk {
  struct span questions;
  enum co_stop stop;
  size_t stop_count;
  unsigned quiet_ms;    /* without a byte in either direction: it hangs */
  uint64_t deadline_ns; /* on clock_monotonic_ns, of the whole talk; 0: none */
  size_t answer_bytes_max;
  const int *cancel; /* a descriptor: once it can be read, the talk is over; NULL: none */
};

struct co_start {
  const char *command;          /* for /bin/sh -c */
  const char *const *variables; /* "NAME=value", NULL at the end: added to our environment */
  bool is_confined; /* without capabilities, nor a way to them; within the limits above; stderr
                       closed to it */
};

/* Starts a process group of its own that has none of our descriptors but stderr.  Safe beside other
   threads; SIGPIPE is ignored by the caller.  Returns 0 or -errno. */
int co_process_start(const struct co_start *start, struct co_process *ret);

/* Writes the questions as it reads and reads ANSWERS (appended) as it writes, so that neither waits
   for the other.  Returns 0; -ETIMEDOUT; -ECANCELED; -EOVERFLOW over answer_bytes_max; -EBADMSG
   when it ends before STOP_COUNT, or has said more already (what comes later is only seen by
   co_process_is_astray); -ENOMEM; or -errno. */
int co_process_talk(struct co_process *process, const struct co_talk *talk, struct buf *answers);

/* True when it has died or says what nobody asked.  Never waits. */
bool co_process_is_astray(const struct co_process *process);

/* Closes both ends and takes its status; one that IS_DONE has a moment to end by itself before it
   and what is left of its group are killed.  Returns the exit status, or -1 when it was killed.
   Then PROCESS is empty. */
int co_process_end(struct co_process *process, bool is_done);

#endif
