/* SPDX-License-Identifier: Apache-2.0 */
/* The link to what one run has done, on the collector's page. */
#ifndef CLI_RUN_URL_H
#define CLI_RUN_URL_H

#include <stdint.h>

struct buf;

struct run_names {
  const char *service;
  const char *labels; /* that it was given: NAME=VALUE, one a line */
};

struct run_span { /* Unix time */
  uint64_t start_ns, end_ns;
};

/* Appends the link to what a run of NAMES did in SPAN, on the page at PAGE_URL (which ends in '/').
   Without memory RET says so. */
void run_url_print(const char *page_url, const struct run_names *names, struct run_span span,
                   struct buf *ret);

#endif
