/* SPDX-License-Identifier: Apache-2.0 */
/* A spool on a real file system, in its own folder. fdatasync is replaced by a function that can
   fail or wait on request; everything else is real. */
#ifndef TESTS_SPOOL_FIXTURE_H
#define TESTS_SPOOL_FIXTURE_H

#include "proto/spool_segment.h"
#include "spool/spool.h"
#include "spool/spool_dir.h"

#include "common/log.h"
#include "proto/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { RUN = 0x1234, RECORDS = 10, PAYLOAD = 500, ENTRY = SPOOL_HEADER_BYTES + PAYLOAD };

struct bench {
  char dir[128];
  struct spool *spool;
  uint64_t lost[LOSS_REASON_COUNT];
  uint64_t lost_run;
};

extern const struct spool_limits roomy;
extern int sync_error; /* not 0: fdatasync fails with it */
/* A busy disk: while IS_BUSY, fdatasync does not return. */
void disk_is_busy(bool is_busy);

/* The spool's loss callback, with BENCH as its context: counts the losses. */
void on_loss(void *context, uint64_t run, enum loss_reason reason, uint64_t records);

int set_up(void **state);
int tear_down(void **state);
void open_with(struct bench *bench, const struct spool_limits *limits);
void reopen(struct bench *bench);
int remove_one(const char *path, const struct stat *status, int flag, struct FTW *walk);

/* Appends batch SEQ of RUN, or many of one run, with bytes derived from SEQ. */
int append(struct bench *bench, uint64_t run, uint64_t seq);
void append_many(struct bench *bench, uint64_t first, uint64_t last);

/* Takes the next batch, checks that it is complete, and returns its seq; 0 if there is none. */
uint64_t take(struct bench *bench);
uint64_t take_and_ack_all(struct bench *bench); /* how many there were */
struct spool_figures figures(struct bench *bench);

/* Files in the folder SUB that end in SUFFIX. */
unsigned count_files(struct bench *bench, const char *sub, const char *suffix);

/* Opens segment ID as a file to be damaged; flip_byte does it. */
int damage_fd(struct bench *bench, unsigned id);
void flip_byte(struct bench *bench, unsigned id, off_t at);

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
