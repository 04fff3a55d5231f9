/* SPDX-License-Identifier: Apache-2.0 */
/* The text is cut at its last colon, because an IPv6 address is full of them; that one stands in
   brackets therefore, and a host that has a colon without them is refused rather than guessed at.
   Ports are numbers: names of services differ from machine to machine. */
#include "endpoint.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { PORT_MAX = 65535 };

static bool is_port(const char *text) {
  size_t len = strlen(text);
  if (len == 0 || len >= ENDPOINT_PORT_BYTES || strspn(text, "0123456789") != len) return false;
  unsigned long port = strtoul(text, NULL, 10);
  return port > 0 && port <= PORT_MAX;
}

int endpoint_parse(const char *text, struct endpoint *ret) {
  const char *colon = strrchr(text, ':');
  if (colon == NULL || colon == text || !is_port(colon + 1)) return -EINVAL;
  size_t len = (size_t)(colon - text);
  if (text[0] == '[') {
    if (text[len - 1] != ']' || len < 3) return -EINVAL;
    text++;
    len -= 2;
  } else if (memchr(text, ':', len) != NULL) {
    return -EINVAL;
  }
  if (len >= sizeof ret->host) return -EINVAL;
  memcpy(ret->host, text, len);
  ret->host[len] = '\0';
  memcpy(ret->port, colon + 1, strlen(colon + 1) + 1);
  return 0;
}
