/* SPDX-License-Identifier: Apache-2.0 */
/* A link to the samples of one run at the collector. */
#ifndef CLI_RUN_URL_H
#define CLI_RUN_URL_H

#include <stdbool.h>
#include <stdint.h>

struct buf;

/* The end of a collector's page address if it was built without the web page. */
#define RUN_URL_API "api/v1/"

struct run_names {
  const char *service;
  const char *labels; /* the run's labels: NAME=VALUE, one a line */
  bool is_first; /* the first of concurrent runs: its samples are those without a label `run` */
};

struct run_span { /* Unix time */
  uint64_t start_ns, end_ns;
};

/* Whether the collector of PAGE_URL has a web page; otherwise PAGE_URL is the start of its API. */
bool run_url_has_page(const char *page_url);

/* Appends a link to the samples of a run of NAMES in SPAN at the collector of PAGE_URL (which ends
   in '/'): to its page, or else to its API's table.  If memory runs out, RET is marked as
   failed. */
void run_url_print(const char *page_url, const struct run_names *names, struct run_span span,
                   struct buf *ret);

/* As run_url_print, for a terminal.  Appends only the link if there is a page and a browser is
   available.  Otherwise appends the shell command that shows the samples as text, with the link as
   its last argument. */
void run_url_offer(const char *page_url, const struct run_names *names, struct run_span span,
                   struct buf *ret);

#endif
