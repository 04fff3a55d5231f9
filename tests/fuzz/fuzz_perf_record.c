/* SPDX-License-Identifier: Apache-2.0 */
/* A piece of the kernel's ring, as the events of a stranger could have filled it: size, time and
   fields of every record up to the first whose size makes no sense. */
#include "daemon/perf_record.h"

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
  struct span rest = span_of(data, len), bytes;
  struct perf_record record;
  for (size_t size; (size = perf_record_size(rest)) != 0;) {
    span_take(&rest, size, &bytes);
    perf_record_time(bytes);
    int error = perf_record_decode(bytes, &record);
    if (error == 0) check(&record);
    if (error != 0 && error != -EBADMSG) abort();
  }
  return 0;
}
