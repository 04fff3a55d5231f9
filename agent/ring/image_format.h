/* SPDX-License-Identifier: Apache-2.0 */
/* Describes the process of a ring that outlives it: its identity, when it was alive, and its mapped
   files, so that `fleetprof report` can read the ring after the process and the daemon are gone.
   Lies at IMAGE_OFFSET of a histogram's or recorder's ring. The daemon (or `run`) writes it, and
   the handler reads it under a sequence lock. `serial` is odd while regions change. A reader that
   finds it odd or changed gives up. */
#ifndef RING_IMAGE_FORMAT_H
#define RING_IMAGE_FORMAT_H

#include "ring_format.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
  IMAGE_OFFSET = 4096, /* of the ring */
  IMAGE_BYTES = 48 << 10,
  IMAGE_REGIONS_MAX = 128,
  IMAGE_MODULES_MAX = 128,
  IMAGE_ID_BYTES = 32,
  IMAGE_PATH_BYTES = 256,
  IMAGE_NAME_BYTES = 128,
  IMAGE_LABELS_BYTES = 1024,
};

/* True for modes in which data stays in the ring until it is shipped; stacks and pairs are
   drained. */
static inline bool ring_has_image(uint32_t collect) {
  return collect == RING_HISTOGRAM || collect == RING_RECORDER;
}

/* An executable mapping. Regions keep their bins: an unmapped region is retired with its bins, and
   gets them back when the same part of the same file is mapped again. Any other new region gets new
   bins. */
struct image_region {
  uint64_t start, end; /* in the process */
  uint64_t address;    /* of start, in the module's own ELF address space */
  uint16_t module;     /* index */
  uint16_t widening;   /* histogram: its bins have bin_bytes << widening */
  uint32_t first_bin;  /* histogram: of start */
};

struct image_module {
  uint8_t id[IMAGE_ID_BYTES]; /* build ID, or SHA-256 of the file if it has none */
  uint32_t id_len;            /* 0: a pseudo module such as [vdso] */
  uint32_t reserved;
  uint64_t size_bytes;
  char path[IMAGE_PATH_BYTES];
};

struct image_table {
  _Atomic uint32_t serial;
  uint32_t region_count;  /* mapped now, sorted by start, disjoint: the handler reads only these */
  uint32_t retired_count; /* no longer mapped, stored after them: only for readers */
  uint32_t module_count;
  uint32_t asked_mhz;
  uint32_t filters; /* seccomp filters that the process already had when it registered */
  uint8_t boot_id[16];
  uint64_t start_boottime_ns, start_walltime_ns;
  _Atomic uint64_t alive_boottime_ns, alive_walltime_ns; /* last seen alive by the daemon */
  uint64_t shipped_run, shipped_seq; /* the batch with the kept data; 0: none yet */
  int32_t pid;
  uint32_t uid;
  char service[IMAGE_NAME_BYTES];
  char exe[IMAGE_PATH_BYTES];
  char labels[IMAGE_LABELS_BYTES]; /* "k=v\nk=v" */
  struct image_region regions[IMAGE_REGIONS_MAX];
  struct image_module modules[IMAGE_MODULES_MAX];
  uint32_t wish_mhz; /* later rate from `ctl`, or 0 */
};

/* The most recently requested rate. */
static inline uint32_t image_rate_mhz(const struct image_table *table) {
  return table->wish_mhz != 0 ? table->wish_mhz : table->asked_mhz;
}

_Static_assert(sizeof(struct image_table) <= IMAGE_BYTES, "the image table outgrew its room");

#endif
