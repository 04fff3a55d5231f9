/* SPDX-License-Identifier: Apache-2.0 */
/* A child process that makes one module's table. */
#ifndef WALK_TABLE_JOB_H
#define WALK_TABLE_JOB_H

#include "table_file.h"

#include "common/buf.h"

#include <sys/types.h>

enum {
  TABLE_JOB_CPU_SECONDS_MAX = 20,
  TABLE_JOB_STILL_MS_MAX = 60000,       /* without any CPU time; then it is killed */
  TABLE_JOB_ROOM_BYTES_MAX = 128 << 20, /* of memory, besides its mapped files */
  TABLE_JOB_TABLE_BYTES_MAX = 8 << 20,  /* four times the size for the largest known program */
  TABLE_JOB_HASTE_MS = 100,             /* of CPU time; then its priority drops */
  TABLE_JOB_NICE = 10,
  TABLE_JOB_STRAYS_MAX = 8, /* killed but not gone; with more, no child is started */
};

/* The module of a table. The child opens OPEN_PATH, else PATH as PID sees it (0: no living
   process). It uses the file only if the file has this key. */
struct table_wanted {
  uint8_t id[LIMIT_MODULE_ID_BYTES]; /* from table_key: the module's ID and its responsible uid */
  uint32_t id_bytes;
  pid_t pid;
  char path[LIMIT_PATH_BYTES + 1];
  char open_path[LIMIT_PATH_BYTES + 32]; /* the path by which it was opened a moment ago, or "" */
};

/* The child's work: appends WANTED's table to RET, or writes to WHY (of TABLE_FILE_WHY_BYTES) why
   there is none. */
typedef enum table_state table_build(const struct table_wanted *wanted, struct buf *ret, char *why);

/* Makes the table from the module's file. */
table_build table_job_build;
/* Called when the file is mapped: limits this process to TABLE_JOB_ROOM_BYTES_MAX and enters a
   sandbox (table_sandbox.h). */
void table_job_confine(void);

/* All-zero: no job. */
struct table_job {
  pid_t child;       /* 0: none */
  int fd;            /* the child's output: a table file */
  uint64_t moved_ns; /* CLOCK_MONOTONIC: when its CPU time last increased */
  uint64_t cpu_ns;   /* its CPU time then */
  pid_t strays[TABLE_JOB_STRAYS_MAX];
};

/* Starts a child that runs BUILD for WANTED. Returns 0 or -errno; -EBUSY if too many abandoned
   children wait for files. */
int table_job_start(struct table_job *job, const struct table_wanted *wanted, table_build *build);

/* Checks the child. Returns true when it has finished; RET then has its result and JOB is empty. */
bool table_job_step(struct table_job *job, struct span id, struct table_file *ret);

/* Kills the child. */
void table_job_stop(struct table_job *job);

#endif
