/* SPDX-License-Identifier: Apache-2.0 */
/* A record of the kernel's perf ring, as written by the events of perf_attr.h: sample_type
   IDENTIFIER|IP|TID|TIME|STREAM_ID|PERIOD, then CALLCHAIN, REGS_USER and STACK_USER depending on
   enum perf_content, and sample_id_all. */
#ifndef PERF_PERF_RECORD_H
#define PERF_PERF_RECORD_H

#include "common/span.h"
#include "intake/perf_attr.h"
#include "intake/perf_regs.h"
#include "proto/limits.h"

enum perf_record_kind {
  PERF_RECORD_KIND_OTHER, /* well-formed, but not used */
  PERF_RECORD_KIND_SAMPLE,
  PERF_RECORD_KIND_MMAP, /* MMAP or MMAP2, executable */
  PERF_RECORD_KIND_COMM,
  PERF_RECORD_KIND_FORK,
  PERF_RECORD_KIND_EXIT,
  PERF_RECORD_KIND_LOST,
  PERF_RECORD_KIND_THROTTLE,
  PERF_RECORD_KIND_READ, /* the count of a task that has ended */
};

enum { PERF_COMM_BYTES = 16, PERF_RECORD_BYTES_MAX = 65536 };

/* The content of an event's samples, and its layout. */
struct perf_form {
  enum perf_content content;
  const struct perf_regs *pair;      /* of PERF_CONTENT_PAIR */
  const struct perf_walk_regs *walk; /* of PERF_CONTENT_COPY */
};

/* The word size of a sample's process. */
enum perf_word {
  PERF_WORD_NONE = 0 /* no program's: a kernel thread */,
  PERF_WORD_32,
  PERF_WORD_64
};

/* Registers, and the words from the stack pointer upwards. */
struct perf_copy {
  enum perf_word word;
  uint64_t pc, sp, lr, tracked[PERF_REGS_TRACKED];
  uint64_t general[PERF_REGS_GENERAL]; /* in perf_walk_regs' order; 0 if not given */
  struct span stack; /* borrows the record; ends at its limit, at the stack's end, or before a page
                        not in memory: the cause is unknown */
};

struct perf_record {
  enum perf_record_kind kind;
  uint64_t id; /* of the event, from PERF_EVENT_IOC_ID */
  uint64_t time;
  int32_t pid, tid;
  union {
    struct perf_sample {
      uint64_t stream_id; /* of the event itself; differs if a child inherited it */
      uint64_t period_ns; /* the event's initial period */
      uint32_t depth;
      uint32_t kernel_depth;          /* the first of them: in the kernel */
      uint64_t pc[LIMIT_STACK_DEPTH]; /* leaf first; for a pair pc and lr; for a copy the kernel's
                                         chain, including the program's part */
      struct perf_copy copy;          /* zero if there is none */
    } sample;
    struct {
      uint64_t start, len, file_offset, inode;
      uint32_t major, minor;
      char path[LIMIT_PATH_BYTES + 1];
    } mmap;
    struct {
      bool is_exec;
      char name[PERF_COMM_BYTES];
    } comm;
    struct {
      int32_t parent_pid, parent_tid;
    } task;
    struct {
      uint64_t count;
    } lost;
    struct {
      uint64_t count;
    } read;
  };
};

/* Returns the size of the record at the start of BYTES by its header; 0 if the record is incomplete
   or the header is invalid. Pure. */
size_t perf_record_size(struct span bytes);

/* Returns the time of a whole record, 0 if it has none. Pure. */
uint64_t perf_record_time(struct span record);

/* True if the whole RECORD is a sample; RET_ID and RET_PID are then its event and process. Pure. */
bool perf_record_is_sample(struct span record, uint64_t *ret_id, int32_t *ret_pid);

/* Decodes one whole RECORD. For a sample, FORM is its content; NULL: a call chain. Returns 0, or
   -EBADMSG if its fields do not fit. Pure. */
int perf_record_decode(struct span record, const struct perf_form *form, struct perf_record *ret);

#endif
