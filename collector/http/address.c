/* SPDX-License-Identifier: Apache-2.0 */
/* Accepts numeric addresses only. A name can resolve to several addresses, or to another one later,
   and whether the address is loopback decides about TLS and tokens. "localhost" is the one
   exception and means 127.0.0.1. */
#include "address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PORT_DIGITS_MAX = 5, PORT_MAX = 65535, HOST_NAME_BYTES = 65 };

static int parse_port(const char *text, in_port_t *ret) {
  size_t digits = strspn(text, "0123456789");
  if (digits == 0 || digits > PORT_DIGITS_MAX || text[digits] != '\0') return -EINVAL;
  unsigned long port = strtoul(text, NULL, 10);
  if (port > PORT_MAX) return -EINVAL;
  *ret = htons((in_port_t)port);
  return 0;
}

int address_parse(const char *text, struct sockaddr_storage *ret, socklen_t *ret_len) {
  char host[INET6_ADDRSTRLEN + 2];
  in_port_t port;
  struct sockaddr_in four = {.sin_family = AF_INET};
  struct sockaddr_in6 six = {.sin6_family = AF_INET6};
  const char *colon = strrchr(text, ':');
  size_t len = colon ? (size_t)(colon - text) : 0;
  if (len == 0 || len >= sizeof host || parse_port(colon + 1, &port) != 0) return -EINVAL;
  memcpy(host, text, len);
  host[len] = '\0';
  if (host[0] == '[' && host[len - 1] == ']') {
    host[len - 1] = '\0';
    if (inet_pton(AF_INET6, host + 1, &six.sin6_addr) != 1) return -EINVAL;
    six.sin6_port = port;
    memcpy(ret, &six, sizeof six);
    *ret_len = sizeof six;
    return 0;
  }
  const char *numeric = strcmp(host, "localhost") == 0 ? "127.0.0.1" : host;
  if (inet_pton(AF_INET, numeric, &four.sin_addr) != 1) return -EINVAL;
  four.sin_port = port;
  memcpy(ret, &four, sizeof four);
  *ret_len = sizeof four;
  return 0;
}

bool address_is_wildcard(const struct sockaddr_storage *address) {
  const struct sockaddr_in *in = (const void *)address;
  const struct sockaddr_in6 *in6 = (const void *)address;
  return address->ss_family == AF_INET ? in->sin_addr.s_addr == htonl(INADDR_ANY)
                                       : IN6_IS_ADDR_UNSPECIFIED(&in6->sin6_addr);
}

void address_print_url(const struct sockaddr_storage *address, const char *scheme, const char *name,
                       char url[ADDRESS_URL_BYTES]) {
  char text[INET6_ADDRSTRLEN] = "?", host[HOST_NAME_BYTES] = "";
  bool is_six = address->ss_family == AF_INET6;
  const struct sockaddr_in *in = (const void *)address;
  const struct sockaddr_in6 *in6 = (const void *)address;
  unsigned port = ntohs(is_six ? in6->sin6_port : in->sin_port);
  inet_ntop(address->ss_family, is_six ? (const void *)&in6->sin6_addr : &in->sin_addr, text,
            sizeof text);
  /* A wildcard address cannot be connected to: prints this machine's host name instead. */
  bool has_host = address_is_wildcard(address) && gethostname(host, sizeof host - 1) == 0;
  if (name == NULL) name = has_host && host[0] != '\0' ? host : text;
  bool is_bracketed = strchr(name, ':') != NULL;
  snprintf(url, ADDRESS_URL_BYTES, "%s://%s%s%s:%u/", scheme, is_bracketed ? "[" : "", name,
           is_bracketed ? "]" : "", port);
}
