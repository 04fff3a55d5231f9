/* SPDX-License-Identifier: Apache-2.0 */
/* Parses a link to a view of the collector's web page or to an API answer: the link that `run`
   prints, or the address bar's. */
#ifndef CLI_PAGE_LINK_H
#define CLI_PAGE_LINK_H

#include <stdbool.h>
#include <stddef.h>

enum { PAGE_LINK_BYTES = 8192 }; /* of a link, with its NUL; a selector has at most 4096 */

/* The parts of a link, NULL if missing.  They point into `text`, so do not copy the struct. */
struct page_link {
  const char *http; /* the collector's address */
  const char *view; /* "profile", "function", ...; NULL: the page's initial view */
  const char *match, *from, *to, *type, *function, *module;
  char text[PAGE_LINK_BYTES];
};

/* Whether WORD, a selector as typed, is a link. */
bool page_link_is(const char *word);

/* Parses WORD.  Returns 0, or -EINVAL with the reason in WHY. */
int page_link_read(const char *word, struct page_link *ret, char *why, size_t why_len);

#endif
