/* SPDX-License-Identifier: Apache-2.0 */
/* The records of a perf.data file, as `perf record --call-graph dwarf` writes it. */
#ifndef TESTS_BENCH_PERF_FILE_H
#define TESTS_BENCH_PERF_FILE_H

#include "common/span.h"

struct perf_entry {
  uint64_t time;
  struct span record;
  size_t number; /* in the file */
};

struct perf_file {
  struct span bytes;
  uint64_t sample_type, register_mask;
  struct perf_entry *entries; /* by time */
  size_t count;
};

struct recorded_sample {
  int32_t pid, tid;
  uint64_t time;
  struct span registers; /* 8 bytes each, those of register_mask; empty: none */
  struct span stack;     /* as much as was copied */
  struct span chain;     /* by the kernel, 8 bytes each, with its marks of context */
};

/* Reads the file at PATH.  Returns 0, or -errno with the reason in WHY. */
int perf_file_open(const char *path, struct perf_file *ret, const char **why);

/* Decodes the record of a sample.  Returns 0 or -EBADMSG. */
int perf_file_sample(const struct perf_file *file, struct span record, struct recorded_sample *ret);

/* Register NUMBER (the kernel's number on this CPU) of SAMPLE; 0 if absent. */
uint64_t perf_file_register(const struct perf_file *file, const struct recorded_sample *sample,
                            unsigned number);

#endif
