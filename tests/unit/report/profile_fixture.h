/* SPDX-License-Identifier: Apache-2.0 */
/* Profile files in memory, made of the entries that a daemon writes. */
#ifndef TESTS_REPORT_PROFILE_FIXTURE_H
#define TESTS_REPORT_PROFILE_FIXTURE_H

#include "common/buf.h"
#include "proto/batch_codec.h"
#include "proto/compress.h"
#include "proto/spool_segment.h"
#include "report/profile_reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

struct file {
  int fd;
  uint64_t end;
};

static inline struct file file_make(void) {
  struct file file = {.fd = memfd_create("profile", MFD_CLOEXEC)};
  struct spool_entry head = {.kind = SPOOL_MARK};
  assert_true(file.fd >= 0);
  assert_int_equal(spool_segment_write(file.fd, &head, span_of(NULL, 0)), 0);
  file.end = SPOOL_HEADER_BYTES;
  return file;
}

static inline void file_append(struct file *file, const struct batch *batch, uint64_t seq) {
  struct buf raw = {0}, packed = {0};
  assert_int_equal(batch_encode(batch, &raw), 0);
  assert_int_equal(compress(buf_span(&raw), 1, &packed), 0);
  struct spool_entry entry = {.offset = file->end,
                              .run = batch->counters.run,
                              .seq = seq,
                              .records = batch_record_count(batch),
                              .raw_len = (uint32_t)raw.len,
                              .kind = SPOOL_BATCH};
  assert_int_equal(spool_segment_write(file->fd, &entry, buf_span(&packed)), 0);
  file->end += SPOOL_HEADER_BYTES + packed.len;
  buf_fini(&raw);
  buf_fini(&packed);
}

/* main -> work (WORK records), main (10 records), one nanosecond a record; and of type LR: work
   called from main (5), work with an LR in itself (7). */
struct small_batch {
  struct batch_module modules[2];
  struct batch_target target;
  struct batch_thread thread;
  struct batch_node nodes[4];
  struct batch_sample samples[4];
  struct batch batch;
};

static inline const struct batch *small_batch_fill(struct small_batch *small, uint64_t run,
                                                   uint64_t work, bool is_final) {
  memset(small, 0, sizeof *small);
  small->modules[0] = (struct batch_module){span_of("\1\2\3\4", 4), "/no/such/tool", 1, MODULE_ELF};
  small->modules[1] = (struct batch_module){{NULL, 0}, "[kernel]", 0, MODULE_PSEUDO};
  small->target = (struct batch_target){
      .service = "tool", .exe = "/no/such/tool", .sampler = "perf", .asked_mhz = 99000, .why = ""};
  small->thread = (struct batch_thread){0, "main"};
  small->nodes[0] = (struct batch_node){BATCH_NONE, 0, 0x100};
  small->nodes[1] = (struct batch_node){0, 0, 0x200};
  small->nodes[2] = (struct batch_node){BATCH_NONE, 0, 0x200};
  small->nodes[3] = (struct batch_node){2, 0, 0x200};
  small->samples[0] = (struct batch_sample){0, 0, SAMPLE_CPU, 10, 10};
  small->samples[1] = (struct batch_sample){1, 0, SAMPLE_CPU, work, work};
  small->samples[2] = (struct batch_sample){1, 0, SAMPLE_CPU_LR, 5, 5};
  small->samples[3] = (struct batch_sample){3, 0, SAMPLE_CPU_LR, 7, 7};
  small->batch = (struct batch){.counters = {.run = run, .produced = 22 + work, .final = is_final},
                                .start_walltime_ns = 1000,
                                .end_walltime_ns = 2000,
                                .module_count = 2,
                                .target_count = 1,
                                .thread_count = 1,
                                .node_count = 4,
                                .sample_count = 4,
                                .modules = small->modules,
                                .targets = &small->target,
                                .threads = &small->thread,
                                .nodes = small->nodes,
                                .samples = small->samples};
  small->batch.counters.dropped[LOSS_RING_FULL] = 3;
  return &small->batch;
}

#endif
