/* SPDX-License-Identifier: Apache-2.0 */
/* The content of each frame, one struct for each type; messages.h converts them. Encoders borrow
   strings and spans; decoders store them in the caller's arena. */
#ifndef PROTO_PAYLOADS_H
#define PROTO_PAYLOADS_H

#include "batch.h"
#include "certificate_payloads.h"

#include <stdbool.h>
#include <stdint.h>

enum { MESSAGE_SHA256_BYTES = 32 };

enum capability {
  CAPABILITY_RENEWAL = 1, /* supports renew_only, and may send Renew */
  CAPABILITY_PREFIX = 2,  /* may send batches that refer to the previous one */
};

struct boot_time { /* of an earlier boot; offset 0: unknown */
  uint8_t boot_id[BATCH_BOOT_ID_BYTES];
  uint64_t offset_ns, alive_ns;
};

struct hello {
  uint32_t version;
  uint8_t boot_id[BATCH_BOOT_ID_BYTES];
  uint64_t boottime_ns, walltime_ns;
  const char *program_version, *arch, *kernel;
  uint32_t label_count;
  const struct label *labels;
  uint64_t first_seq;
  uint32_t capabilities;    /* bits of enum capability */
  struct counters counters; /* counters.run is the daemon's run */
  const char *sampler;
  uint32_t achieved_mhz;
  struct effort effort;
  uint32_t boot_count;
  const struct boot_time *boots;
};

struct welcome {
  uint32_t version;
  uint64_t walltime_ns;
  uint64_t last_seq;
  const char *page_url;
  uint32_t batch_bytes_max;
  uint64_t trust; /* of the CA certificates (common/tls_trust.h); 0: this collector does not support
                     Renew */
  bool renew_only;           /* the certificate has expired */
  uint32_t return_within_ms; /* after the connection has ended; 0: unspecified */
  uint32_t prefix_bytes_max; /* of a batch that the next may refer to; 0: none */
};

struct envelope {
  uint64_t run, seq, records;
  uint32_t raw_len;
  struct span zstd;
  uint64_t after; /* the seq of the batch to which ZSTD refers (prefix.h); 0: none */
};

struct ack {
  uint64_t run, seq;
};

struct reject {
  uint64_t run, seq;
  const char *reason;
  bool permanent;
  uint32_t retry_after_ms;
  bool over_quota; /* a permanent rejection counts as LOSS_QUOTA */
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
  bool is_settled; /* no batch of an earlier run is pending on the board */
};

struct pong {
  uint64_t walltime_ns;
  uint64_t trust;            /* 0: as in Welcome or an earlier Pong */
  uint32_t return_within_ms; /* the same */
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

#endif
