/* SPDX-License-Identifier: Apache-2.0 */
/* The link to what one run has done, at the collector. */
#ifndef CLI_RUN_URL_H
#define CLI_RUN_URL_H

#include <stdbool.h>
#include <stdint.h>

struct buf;

/* How the address ends that a collector gives as its page's when it was built without one. */
#define RUN_URL_API "api/v1/"

struct run_names {
  const char *service;
  const char *labels; /* that it was given: NAME=VALUE, one a line */
  bool is_first;      /* of several such runs at once: what it alone has is no label `run` */
};

struct run_span { /* Unix time */
  uint64_t start_ns, end_ns;
};

/* Whether a collector that says PAGE_URL of itself has a page; else it is where its API begins. */
bool run_url_has_page(const char *page_url);

/* Appends the link to what a run of NAMES did in SPAN at the collector of PAGE_URL (which ends in
   '/'): on its page, else to the table of its API.  Without memory RET says so. */
void run_url_print(const char *page_url, const struct run_names *names, struct run_span span,
                   struct buf *ret);

/* The same for somebody at a terminal: the link alone where there is a page and a browser is at
   hand, else the command by which this program shows it as text, for a shell, with the link as its
   last word. */
void run_url_offer(const char *page_url, const struct run_names *names, struct run_span span,
                   struct buf *ret);

#endif
