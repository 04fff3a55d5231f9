/* SPDX-License-Identifier: Apache-2.0 */
/* Every number that a peer can influence. A length from outside is compared with one of these
   before it is used, and the message of a rejection names the constant. */
#ifndef PROTO_LIMITS_H
#define PROTO_LIMITS_H

#include <stdint.h>

enum {
  LIMIT_PROTOCOL_VERSION = 2, /* see WIRE.md, "How it grows", for each version */

  /* Frames: 4 bytes of length, 1 of type, then the payload. */
  LIMIT_FRAME_BYTES = 2 << 20,
  LIMIT_CONTROL_BYTES = 64 << 10, /* any frame but a batch or a debug chunk */

  /* One batch. */
  LIMIT_BATCH_ZSTD_BYTES = 1 << 20,
  LIMIT_BATCH_RAW_BYTES = 8 << 20,
  LIMIT_PREFIX_BYTES = 16 << 10, /* of one that the next may refer to, inflated: a copy a board */
  LIMIT_BATCH_UNPACK_BYTES = 32 << 20, /* memory for decoding one batch */
  LIMIT_BATCH_MODULES = 4096,
  LIMIT_BATCH_TARGETS = 1024,
  LIMIT_BATCH_THREADS = 8192,
  LIMIT_BATCH_NODES = 131072,
  LIMIT_BATCH_SAMPLES = 262144,
  LIMIT_CPUS = 8192, /* of a board: the maximum that Linux can be built for */
  LIMIT_LABELS = 32,
  LIMIT_BOOTS = 64,        /* earlier ones that a board reports */
  LIMIT_STACK_DEPTH = 128, /* frames kept of one stack */

  /* Strings, in bytes without the NUL. */
  LIMIT_NAME_BYTES = 128,  /* board, service, label name, thread name */
  LIMIT_VALUE_BYTES = 256, /* label value, reason */
  LIMIT_PATH_BYTES = 1024,
  LIMIT_MODULE_ID_BYTES = 64,
  LIMIT_TOKEN_BYTES = 256,
  LIMIT_CSR_BYTES = 8 << 10,
  LIMIT_CERTIFICATE_BYTES = 16 << 10,

  /* Debug files. */
  LIMIT_DEBUG_CHUNK_BYTES = 256 << 10,
  LIMIT_DEBUG_CHUNK_ZSTD_BYTES = (256 << 10) + (4 << 10), /* one that does not compress */
  LIMIT_DEBUG_WANTED = 64, /* modules requested at once on one connection */

  /* Sources of one module. */
  LIMIT_SOURCE_FILES = 65536,
  LIMIT_SOURCE_BYTES = 16 << 20, /* of one file; SQLite's amalgamation has 9 MB */
  LIMIT_SOURCE_BUNDLE_BYTES = 256 << 20,

  /* A connection. */
  LIMIT_CONNECTIONS = 16384,
  /* Descriptors of a collector besides its connections: a query has 64 day files open while 48 are
     open for the next one, with three each; the rest needs about a hundred. */
  LIMIT_COLLECTOR_FILES = 448,
  LIMIT_COLLECTOR_FILES_MIN = 512, /* with a lower limit it does not start */
  LIMIT_IN_FLIGHT = 16,            /* batches sent and not yet acked */
};

#define LIMIT_DEBUG_FILE_BYTES (1ULL << 30)

/* Weight of one batch: 834 days of one CPU. A hundred of these still fit a signed 64-bit column. */
#define LIMIT_BATCH_WEIGHT_NS (UINT64_C(1) << 56)

#endif
