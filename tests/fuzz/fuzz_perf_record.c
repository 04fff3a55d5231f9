/* SPDX-License-Identifier: Apache-2.0 */
/* A piece of the kernel's ring, filled by untrusted events. Reads size, time and fields of every
   record up to the first invalid size. Each record is parsed with all fields that a sample may
   have. */
#include "perf/perf_record.h"

#include <errno.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static volatile uint8_t sink;

/* Every byte of it can be read. */
static void check_copy(const struct perf_copy *copy) {
  if (copy->stack.len >= PERF_RECORD_BYTES_MAX) abort();
  for (size_t i = 0; i < copy->stack.len; i++) sink ^= copy->stack.data[i];
}

static void check(const struct perf_record *record) {
  switch (record->kind) {
  case PERF_RECORD_KIND_SAMPLE:
    if (record->sample.depth == 0 || record->sample.depth > LIMIT_STACK_DEPTH) abort();
    if (record->sample.kernel_depth > record->sample.depth) abort();
    check_copy(&record->sample.copy);
    return;
  case PERF_RECORD_KIND_MMAP:
    if (strnlen(record->mmap.path, sizeof record->mmap.path) == sizeof record->mmap.path) abort();
    if (record->mmap.len == 0) abort();
    return;
  case PERF_RECORD_KIND_COMM:
    if (strnlen(record->comm.name, sizeof record->comm.name) == sizeof record->comm.name) abort();
    return;
  default:
    return;
  }
}

static void decode(struct span bytes, const struct perf_form *form) {
  struct perf_record record;
  int error = perf_record_decode(bytes, form, &record);
  if (error == 0) check(&record);
  if (error != 0 && error != -EBADMSG) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
  static const struct perf_regs with_lr = {
      .mask = 6, .count = 2, .lr = 1, .address_mask = 0x0000fffffffffffeULL};
  static const struct perf_regs with_stack = {
      .mask = 1, .count = 1, .lr = PERF_REGS_NO_LR, .stack_bytes = 8, .address_mask = UINT64_MAX};
  static const struct perf_walk_regs walked = {
      .mask = 31, .count = 5, .pc = 4, .sp = 3, .lr = 2, .tracked = {1, 0}};
  static const struct perf_form forms[] = {
      {PERF_CONTENT_CHAIN, NULL, NULL},
      {PERF_CONTENT_PAIR, &with_lr, NULL},
      {PERF_CONTENT_PAIR, &with_stack, NULL},
      {PERF_CONTENT_COPY, NULL, &walked},
      {PERF_CONTENT_PC, NULL, NULL},
      {PERF_CONTENT_PAIR | PERF_CONTENT_KERNEL, &with_lr, NULL},
      {PERF_CONTENT_PAIR | PERF_CONTENT_KERNEL, &with_stack, NULL},
      {PERF_CONTENT_COPY | PERF_CONTENT_KERNEL, NULL, &walked},
      {PERF_CONTENT_PC | PERF_CONTENT_KERNEL, NULL, NULL}};
  struct span rest = span_of(data, len), bytes;
  uint64_t id;
  int32_t pid;
  for (size_t size; (size = perf_record_size(rest)) != 0;) {
    span_take(&rest, size, &bytes);
    perf_record_time(bytes);
    perf_record_is_sample(bytes, &id, &pid);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) decode(bytes, &forms[i]);
  }
  return 0;
}
