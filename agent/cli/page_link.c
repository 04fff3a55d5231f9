/* SPDX-License-Identifier: Apache-2.0 */
/* The page keeps its state in its address (web/src/model/selection.ts), under the names of the
   API's parameters.  The last part of an API path is the name of the view.  Other parameters
   control drawing, and do not apply to a terminal. */
#include "page_link.h"

#include "fetch/url.h"
#include "run_url.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static int refuse(char *why, size_t why_len, const char *text) {
  snprintf(why, why_len, "%s", text);
  return -EINVAL;
}

bool page_link_is(const char *word) {
  return strncasecmp(word, "http://", 7) == 0 || strncasecmp(word, "https://", 8) == 0;
}

/* Cuts TEXT at the first of BYTES.  Returns the rest behind it, or NULL. */
static char *cut(char *text, const char *bytes) {
  char *at = strpbrk(text, bytes);
  if (at == NULL) return NULL;
  *at = '\0';
  return at + 1;
}

/* The last part of an API path names the view, and is not part of the collector's address. */
static void take_route(struct page_link *link, char *address) {
  char *route = strstr(address, "/" RUN_URL_API);
  if (route == NULL) return;
  *route = '\0';
  link->view = route + sizeof "/" RUN_URL_API - 1;
}

static int take_parameter(struct page_link *link, const char *name, char *value) {
  const struct {
    const char *name, **place;
  } known[] = {{"view", &link->view},        {"match", &link->match},
               {"from", &link->from},        {"to", &link->to},
               {"type", &link->type},        {"module", &link->module},
               {"function", &link->function}};
  if (url_unescape(value) != 0) return -EINVAL;
  for (size_t i = 0; i < sizeof known / sizeof *known && *value != '\0'; i++)
    if (strcmp(known[i].name, name) == 0) *known[i].place = value;
  return 0;
}

int page_link_read(const char *word, struct page_link *ret, char *why, size_t why_len) {
  size_t len = strlen(word);
  if (len >= sizeof ret->text) return refuse(why, why_len, "the link has more than 8191 bytes");
  *ret = (struct page_link){.http = ret->text};
  memcpy(ret->text, word, len + 1);
  cut(ret->text, "#");
  char *parameters = cut(ret->text, "?");
  take_route(ret, ret->text);
  while (parameters != NULL && *parameters != '\0') {
    char *next = cut(parameters, "&");
    char *value = cut(parameters, "=");
    if (value != NULL && take_parameter(ret, parameters, value) != 0)
      return refuse(why, why_len, "the link is not whole: an escape (%XX) in it is none");
    parameters = next;
  }
  return 0;
}
