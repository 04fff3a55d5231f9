/* SPDX-License-Identifier: Apache-2.0 */
/* Every frame's payload as a C struct, so that nobody outside this folder sees the generated code.
   Batches travel in an envelope; what is inside it is batch_codec's business. */
#ifndef PROTO_MESSAGES_H
#define PROTO_MESSAGES_H

#include "batch.h"
#include "frame.h"

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct buf;

struct hello {
  uint32_t version;
  uint8_t boot_id[BATCH_BOOT_ID_BYTES];
  uint64_t boottime_ns, walltime_ns;
  const char *program_version, *arch, *kernel;
  uint32_t label_count;
  const struct label *labels;
  uint64_t first_seq;
  uint32_t capabilities;
  struct counters counters; /* counters.run is the daemon's run */
  const char *sampler;
  uint32_t achieved_mhz;
};

struct welcome {
  uint32_t version;
  uint64_t walltime_ns;
  uint64_t last_seq;
  const char *page_url;
  uint32_t batch_bytes_max;
};

struct envelope {
  uint64_t run, seq, records;
  uint32_t raw_len;
  struct span zstd;
};

struct ack {
  uint64_t run, seq;
};

struct reject {
  uint64_t run, seq;
  const char *reason;
  bool permanent;
  uint32_t retry_after_ms;
};

struct debug_wanted {
  struct span id;
  const char *path;
  uint64_t offset;
};

struct debug_chunk {
  struct span id;
  uint64_t offset, total;
  struct span sha256;
  uint32_t raw_len;
  struct span zstd;
};

struct debug_end {
  struct span id;
  const char *reason; /* empty: the collector has the whole file */
};

struct ping {
  uint64_t boottime_ns, walltime_ns;
  struct counters counters;
  const char *sampler;
  uint32_t achieved_mhz;
};

struct pong {
  uint64_t walltime_ns;
};

struct command {
  uint64_t id;
  const char *verb;
  uint32_t argument_count;
  const struct label *arguments;
};

struct result {
  uint64_t id;
  const char *error; /* empty: done */
};

struct enroll {
  uint32_t version;
  const char *token;
  struct span csr; /* DER */
};

struct enrolled {
  const char *board;
  struct span certificate; /* PEM */
  struct span ca;          /* PEM */
  const char *error;       /* empty: enrolled */
};

struct message {
  enum frame_type type;
  union {
    struct hello hello;
    struct welcome welcome;
    struct envelope batch;
    struct ack ack;
    struct reject reject;
    struct debug_wanted debug_wanted;
    struct debug_chunk debug_chunk;
    struct debug_end debug_end;
    struct ping ping;
    struct pong pong;
    struct command command;
    struct result result;
    struct enroll enroll;
    struct enrolled enrolled;
  };
};

/* Appends the whole frame, header included, to RET.  NULL strings are sent empty.  Returns 0,
   -EOVERFLOW when a string or span is over its limit, -ENOMEM.  Any thread. */
int message_encode(const struct message *message, struct buf *ret);

/* Decodes the payload of FRAME.  Strings (never NULL, always valid UTF-8 without control
   characters) and spans live in ARENA.  Returns 0, -EBADMSG or -EOVERFLOW (WHY says what), or
   -ENOMEM.  Any thread. */
int message_decode(const struct frame *frame, struct arena *arena, struct message *ret_message,
                   char *why, unsigned long why_len);

#endif
