/* SPDX-License-Identifier: Apache-2.0 */
/* Debug file servers use content networks, and redirect to an address that is valid for some
   minutes. Following a redirect lets an untrusted server choose the address of a request from
   inside the own network. Services that listen only on this machine often have no other protection,
   so other servers cannot redirect there. And a request over TLS is not repeated where others can
   change the answer. */
#include "redirect.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { SERVER_BYTES = 512, WHY_BYTES = 128 };

bool redirect_is(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

/* True if TEXT may stand in the middle of a request's head. */
static bool is_target(const char *text) {
  if (*text != '/' || strlen(text) >= REDIRECT_TARGET_BYTES) return false;
  for (; *text != '\0'; text++)
    if (*text <= 0x20 || *text >= 0x7f || *text == '#') return false;
  return true;
}

static int parse_server(const char *text, size_t len, struct url *ret) {
  char server[SERVER_BYTES], why[WHY_BYTES];
  if (len >= sizeof server) return -EINVAL;
  memcpy(server, text, len);
  server[len] = '\0';
  return url_parse(server, ret, why, sizeof why);
}

int redirect_parse(const struct url *from, const char *location, struct url *ret,
                   char target[REDIRECT_TARGET_BYTES]) {
  struct url to = *from;
  const char *path = location;
  bool is_absolute =
      strncasecmp(location, "https://", 8) == 0 || strncasecmp(location, "http://", 7) == 0;
  if (is_absolute) {
    const char *host = strstr(location, "://") + 3;
    path = host + strcspn(host, "/?#");
    if (parse_server(location, (size_t)(path - location), &to) != 0) return -EINVAL;
  }
  if (!is_target(path) || (!is_absolute && path[1] == '/')) return -EINVAL;
  if (from->is_https && !to.is_https) return -EPERM;
  if (url_is_loopback(&to) && !url_is_loopback(from)) return -EPERM;
  to.path[0] = '\0';
  snprintf(target, REDIRECT_TARGET_BYTES, "%s", path);
  *ret = to;
  return 0;
}
