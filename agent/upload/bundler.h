/* SPDX-License-Identifier: Apache-2.0 */
/* The sources of each program to the collector. */
#ifndef UPLOAD_BUNDLER_H
#define UPLOAD_BUNDLER_H

#include "common/options.h"
#include "found.h"
#include "send.h"

struct bundler;

struct bundler_counts {
  uint32_t sent, known; /* modules whose sources are at the collector, now or before */
  uint32_t empty;       /* modules none of whose sources is here */
  uint64_t packed;      /* sources that are sent or known */
  uint64_t missing, forbidden, large; /* those that are not */
};

/* Prepares to find sources as FOLDERS and MAPS say (bundle_roots.h); call before threads exist.
   Returns 0, or -errno with one line in WHY. */
int bundler_open(const struct option_list *folders, const struct option_list *maps,
                 struct bundler **ret, char *why, size_t why_len);
void bundler_close(struct bundler *bundler);

/* Sends the sources of FILE, which is open as FD and has DWARF, those of which are here and that
   the collector lacks.  Returns 0, also when none of them is here, which WHY then says; or as
   send_bytes does. */
int bundler_send(struct bundler *bundler, const struct send *send, const struct found_file *file,
                 int fd, char why[SEND_WHY_BYTES]);

/* Valid until bundler_close. */
const struct bundler_counts *bundler_count(const struct bundler *bundler);

#endif
