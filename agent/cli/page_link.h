/* SPDX-License-Identifier: Apache-2.0 */
/* A link to what the collector's page shows, or to an answer of its API: one that `run` ends with,
   or that stands in the address bar. */
#ifndef CLI_PAGE_LINK_H
#define CLI_PAGE_LINK_H

#include <stdbool.h>
#include <stddef.h>

enum { PAGE_LINK_BYTES = 8192 }; /* of a link, with its NUL; a selector has 4096 at most */

/* What a link holds, NULL where it does not; all of it lies in `text`, so this is not copied. */
struct page_link {
  const char *http; /* where the collector is */
  const char *view; /* "profile", "function", ...; NULL: the page as it opens */
  const char *match, *from, *to, *type, *function, *module;
  char text[PAGE_LINK_BYTES];
};

/* Whether WORD, a selector as it was typed, is a link. */
bool page_link_is(const char *word);

/* Takes WORD apart.  Returns 0, or -EINVAL with the reason in WHY. */
int page_link_read(const char *word, struct page_link *ret, char *why, size_t why_len);

#endif
