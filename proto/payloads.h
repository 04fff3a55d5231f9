/* SPDX-License-Identifier: Apache-2.0 */
/* What each frame carries, one struct a type; messages.h puts them on the wire.  Strings and spans
   are borrowed by encoders; decoders leave them in the caller's arena. */
#ifndef PROTO_PAYLOADS_H
#define PROTO_PAYLOADS_H

#include "batch.h"

#include <stdbool.h>
#include <stdint.h>

enum { MESSAGE_SHA256_BYTES = 32 };

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
  struct effort effort;
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
  struct effort effort;
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

#endif
