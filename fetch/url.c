/* SPDX-License-Identifier: Apache-2.0 */
/* User names and passwords (`user:secret@host`) are not accepted: a process list shows them, and a
   fake host before the '@' has deceived many users. Queries and fragments are not accepted either:
   the caller adds them. A host on this machine means plain HTTP, as the collector uses there; any
   other host means HTTPS unless http:// is given. */
#include "url.h"

#include "common/buf.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { AUTHORITY_BYTES = ENDPOINT_HOST_BYTES + ENDPOINT_PORT_BYTES + 4 };

static int refuse(char *why, size_t why_len, const char *text) {
  snprintf(why, why_len, "%s", text);
  return -EINVAL;
}

bool url_is_loopback(const struct url *url) {
  struct in_addr four;
  struct in6_addr six;
  if (inet_pton(AF_INET, url->at.host, &four) == 1) return ntohl(four.s_addr) >> 24 == 127;
  if (inet_pton(AF_INET6, url->at.host, &six) == 1) return IN6_IS_ADDR_LOOPBACK(&six);
  return strcasecmp(url->at.host, "localhost") == 0;
}

static bool has_port(const char *authority) {
  const char *bracket = strrchr(authority, ']');
  return strchr(bracket != NULL ? bracket : authority, ':') != NULL;
}

static int read_authority(const char *text, size_t len, struct url *url) {
  char authority[AUTHORITY_BYTES];
  if (len == 0 || len + sizeof ":443" > sizeof authority) return -EINVAL;
  memcpy(authority, text, len);
  authority[len] = '\0';
  if (!has_port(authority))
    snprintf(authority + len, sizeof authority - len, "%s", url->is_https ? ":443" : ":80");
  return endpoint_parse(authority, &url->at);
}

/* Reads the part after the authority: a path without characters that are not allowed in a request's
   head. */
static int read_path(const char *text, struct url *url) {
  size_t len = strlen(text);
  for (size_t i = 0; i < len; i++)
    if (text[i] <= 0x20 || text[i] >= 0x7f || strchr("?#\"<>\\", text[i]) != NULL) return -EINVAL;
  while (len > 0 && text[len - 1] == '/') len--;
  if (len >= sizeof url->path) return -EINVAL;
  memcpy(url->path, text, len);
  url->path[len] = '\0';
  return 0;
}

int url_parse(const char *text, struct url *ret, char *why, size_t why_len) {
  struct url url = {.is_https = strncasecmp(text, "https://", 8) == 0};
  bool is_plain = strncasecmp(text, "http://", 7) == 0;
  bool has_scheme = url.is_https || is_plain;
  if (!has_scheme && strstr(text, "://") != NULL)
    return refuse(why, why_len, "is neither http:// nor https://");
  const char *authority = text + (url.is_https ? 8 : is_plain ? 7 : 0);
  size_t len = strcspn(authority, "/?#");
  if (memchr(authority, '@', len) != NULL)
    return refuse(why, why_len, "holds a user name: give a token by --token-file instead");
  if (!has_scheme && !has_port(authority))
    return refuse(why, why_len, "is no URL: http://HOST:PORT or https://HOST:PORT");
  if (read_authority(authority, len, &url) != 0)
    return refuse(why, why_len, "has no HOST:PORT that can be read (an IPv6 address in brackets)");
  if (read_path(authority + len, &url) != 0)
    return refuse(why, why_len, "has a path that is no plain one");
  if (!has_scheme) url.is_https = !url_is_loopback(&url);
  *ret = url;
  return 0;
}

void url_print_host(const struct url *url, struct buf *ret) {
  bool is_six = strchr(url->at.host, ':') != NULL;
  buf_printf(ret, is_six ? "[%s]:%s" : "%s:%s", url->at.host, url->at.port);
}

void url_add_escaped(struct buf *ret, const char *text) {
  static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
  for (; *text != '\0'; text++)
    if (strchr(plain, *text) != NULL)
      buf_append_byte(ret, (uint8_t)*text);
    else
      buf_printf(ret, "%%%02X", (unsigned)(uint8_t)*text);
}

static int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

int url_unescape(char *text) {
  char *plain = text;
  for (; *text != '\0'; text++, plain++) {
    *plain = *text == '+' ? ' ' : *text;
    if (*text != '%') continue;
    int high = hex_digit(text[1]), low = high < 0 ? -1 : hex_digit(text[2]);
    if (low < 0 || high * 16 + low == 0) return -EINVAL;
    *plain = (char)(high * 16 + low);
    text += 2;
  }
  *plain = '\0';
  return 0;
}

void url_add_parameter(struct buf *ret, const char *name, const char *value) {
  if (value == NULL) return;
  bool is_first = ret->len == 0 || memchr(ret->data, '?', ret->len) == NULL;
  buf_printf(ret, "%c%s=", is_first ? '?' : '&', name);
  url_add_escaped(ret, value);
}
