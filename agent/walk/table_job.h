/* SPDX-License-Identifier: Apache-2.0 */
/* A child process that makes one module's table. */
#ifndef WALK_TABLE_JOB_H
#define WALK_TABLE_JOB_H

#include "table_file.h"

#include "common/buf.h"

#include <sys/types.h>

enum {
  TABLE_JOB_CPU_SECONDS_MAX = 20,
  TABLE_JOB_STILL_MS_MAX = 60000,       /* without any CPU time: then it is killed */
  TABLE_JOB_ROOM_BYTES_MAX = 128 << 20, /* of memory, beside the files that it has mapped */
  TABLE_JOB_TABLE_BYTES_MAX = 8 << 20,  /* four times what the largest known program needs */
  TABLE_JOB_HASTE_MS = 100,             /* of CPU time; from then on it gives way to everybody */
  TABLE_JOB_NICE = 10,
  TABLE_JOB_STRAYS_MAX = 8, /* killed, and not gone: then no more are started */
};

/* Whose table is wanted; the child finds the file by OPEN_PATH, else by its path, as PID (0: no
   living process) sees it, and believes it only when it has that key. */
struct table_wanted {
  uint8_t id[LIMIT_MODULE_ID_BYTES]; /* table_key's: the module's, and who answers for it */
  uint32_t id_bytes;
  pid_t pid;
  char path[LIMIT_PATH_BYTES + 1];
  char open_path[LIMIT_PATH_BYTES + 32]; /* opened it a moment ago, or "" */
};

/* What the child does: appends WANTED's table to RET, or says in WHY (of TABLE_FILE_WHY_BYTES) why
   there is none. */
typedef enum table_state table_build(const struct table_wanted *wanted, struct buf *ret, char *why);

/* The one that reads the module's file. */
table_build table_job_build;
/* What it does when the file is mapped: from here on this process gets TABLE_JOB_ROOM_BYTES_MAX,
   and is in a sandbox (table_sandbox.h). */
void table_job_confine(void);

/* All-zero: none. */
struct table_job {
  pid_t child;       /* 0: none */
  int fd;            /* what the child writes: a table file */
  uint64_t moved_ns; /* CLOCK_MONOTONIC: when it was last seen to have used CPU time */
  uint64_t cpu_ns;   /* how much that was */
  pid_t strays[TABLE_JOB_STRAYS_MAX];
};

/* Starts a child that does BUILD for WANTED.  Returns 0 or -errno; -EBUSY where too many wait for
   files that do not come. */
int table_job_start(struct table_job *job, const struct table_wanted *wanted, table_build *build);

/* Looks after it.  Returns true when it is over; RET is then its outcome and JOB empty. */
bool table_job_step(struct table_job *job, struct span id, struct table_file *ret);

/* Kills it. */
void table_job_stop(struct table_job *job);

#endif
