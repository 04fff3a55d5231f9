/* SPDX-License-Identifier: Apache-2.0 */
/* A ring of this process (records, a histogram, a recorder), held as by the supervisor, and the
   daemon's pipeline up to a spool in its own directory. */
#ifndef TESTS_KEPT_FIXTURE_H
#define TESTS_KEPT_FIXTURE_H

#include "daemon/shipper.h"
#include "drain/drain.h"
#include "targets/image.h"
#include "targets/timer_ring.h"

#include "common/arena.h"
#include "common/buf.h"
#include "proto/batch_codec.h"
#include "proto/compress.h"
#include "proto/limits.h"
#include "ring/histogram_writer.h"
#include "ring/image_table.h"
#include "ring/recorder_writer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { KEPT_UNIT_NS = 1000 /* so that a test may count more than a program can */ };

struct kept {
  char dir[64];
  struct counter_page *page;
  struct hold_table held;
  struct perf_rings no_perf;
};

struct kept_pipeline {
  struct targets targets;
  struct modules *modules;
  struct processes *processes;
  struct window *window;
  struct drain drain;
  struct spool *spool;
  struct shipper shipper;
  struct target *target;
};

extern struct kept kept;

/* HELD has the mode and its sizes; this fills in the common fields, and the unit (KEPT_UNIT_NS) if
   it has no period. Returns 0 or -1. */
int kept_make(struct hold_target held);
int kept_unmake(void **state);

/* A worker's state at its start, after recovery from the previous worker; p->target is the target
   made before. */
void kept_open(struct kept_pipeline *p);
void kept_close(struct kept_pipeline *p);

/* Writes the image as the registrar does. */
void kept_begin(struct kept_pipeline *p);

/* Records of all batches in the spool, which is emptied. */
uint64_t kept_spooled(void);

/* The next batch of P's spool, decoded; fails the test if there is none. */
struct kept_batch {
  struct spool_item item;
  struct batch batch;
  struct arena arena;
  struct buf raw;
};
void kept_take_batch(struct kept_pipeline *p, struct kept_batch *ret);
void kept_batch_fini(struct kept_batch *got);

/* PRODUCED records are in the books, and these are closed. */
void kept_assert_books(uint64_t produced);

#endif
