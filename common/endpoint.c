/* SPDX-License-Identifier: Apache-2.0 */
/* The text is split at its last colon, because an IPv6 address contains colons. So that address
   needs brackets, and a host with a colon but without brackets is rejected. Ports are numbers:
   service names differ between machines. */
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
