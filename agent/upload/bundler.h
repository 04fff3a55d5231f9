/* SPDX-License-Identifier: Apache-2.0 */
/* Sends the sources of each program to the collector. */
#ifndef UPLOAD_BUNDLER_H
#define UPLOAD_BUNDLER_H

#include "common/options.h"
#include "found.h"
#include "send.h"

struct bundler;

struct bundler_counts {
  uint32_t sent, known; /* modules with sources sent now, or already at the collector */
  uint32_t empty;       /* modules without any source here */
  uint64_t packed;      /* sources that were sent or are known */
  uint64_t missing, forbidden, large; /* sources that are not */
};

/* Prepares to find sources in FOLDERS and MAPS (bundle_roots.h); call before threads exist.
   Returns 0, or -errno with one line in WHY. */
int bundler_open(const struct option_list *folders, const struct option_list *maps,
                 struct bundler **ret, char *why, size_t why_len);
void bundler_close(struct bundler *bundler);

/* Sends the sources of FILE, which is open as FD and has DWARF, if the collector lacks them.
   Returns 0, with the reason in WHY if none of the sources is here; otherwise as send_bytes. */
int bundler_send(struct bundler *bundler, const struct send *send, const struct found_file *file,
                 int fd, char why[SEND_WHY_BYTES]);

/* Valid until bundler_close. */
const struct bundler_counts *bundler_count(const struct bundler *bundler);

#endif
