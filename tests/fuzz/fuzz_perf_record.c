/* SPDX-License-Identifier: Apache-2.0 */
/* A piece of the kernel's ring, as the events of a stranger could have filled it: size, time and
   fields of every record up to the first whose size makes no sense, each read as a stack and as
   both kinds of pair. */
#include "perf/perf_record.h"

#include <errno.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check(const struct perf_record *record) {
  switch (record->kind) {
  case PERF_RECORD_KIND_SAMPLE:
    if (record->sample.depth == 0 || record->sample.depth > LIMIT_STACK_DEPTH) abort();
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

static void decode(struct span bytes, const struct perf_regs *pair) {
  struct perf_record record;
  int error = perf_record_decode(bytes, pair, &record);
  if (error == 0) check(&record);
  if (error != 0 && error != -EBADMSG) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
  static const struct perf_regs with_lr = {
      .mask = 6, .count = 2, .lr = 1, .address_mask = 0x0000fffffffffffeULL};
  static const struct perf_regs with_stack = {
      .mask = 1, .count = 1, .lr = PERF_REGS_NO_LR, .stack_bytes = 8, .address_mask = UINT64_MAX};
  struct span rest = span_of(data, len), bytes;
  uint64_t id;
  int32_t pid;
  for (size_t size; (size = perf_record_size(rest)) != 0;) {
    span_take(&rest, size, &bytes);
    perf_record_time(bytes);
    perf_record_is_sample(bytes, &id, &pid);
    decode(bytes, NULL);
    decode(bytes, &with_lr);
    decode(bytes, &with_stack);
  }
  return 0;
}
