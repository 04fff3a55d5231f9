/* SPDX-License-Identifier: Apache-2.0 */
/* Access control. On the collector's own machine, reading must be as easy as curl. From other
   machines all access needs a token. Four signs must all agree that a request is local, because
   each alone can occur by accident. For example, a server on loopback may be behind a proxy (then a
   forwarding field is present). A loopback peer may be a browser that executes a page's request
   (then Host is that page's name).

   A browser on this machine is a loopback peer that sends the local Host, whichever page causes the
   request. That page cannot read the answer, but making it costs time. So the browser's headers
   about the page (Sec-Fetch-Site, Origin) must name the collector's own page or a typed address.
   Programs send neither header.

   Writing always needs a token. A token must be valid even where none is required, so that a script
   with an expired token gets an error.

   The loop caches tokens. A token not in the cache is looked up by a thread, since the database may
   block, and is then checked again. */
#include "gate.h"

#include "common/table.h"
#include "identity/access_tokens.h"
#include "proto/limits.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <strings.h>

enum {
  HOST_BYTES_MAX = 64, /* longer ones are not loopback */
  HALF_BYTES = 8,      /* of an IPv6 address: one site has all addresses with the same first half */
};

bool gate_is_loopback_address(const struct sockaddr *address) {
  if (address->sa_family == AF_INET) {
    struct sockaddr_in in;
    memcpy(&in, address, sizeof in);
    return ntohl(in.sin_addr.s_addr) >> 24 == 127;
  }
  if (address->sa_family != AF_INET6) return false;
  struct sockaddr_in6 in6;
  memcpy(&in6, address, sizeof in6);
  const uint8_t *bytes = in6.sin6_addr.s6_addr;
  return IN6_IS_ADDR_LOOPBACK(&in6.sin6_addr) ||
         (IN6_IS_ADDR_V4MAPPED(&in6.sin6_addr) && bytes[12] == 127);
}

static bool is_port(const char *text) {
  size_t digits = strspn(text, "0123456789");
  return digits <= 5 && text[digits] == '\0';
}

/* Cuts `:PORT` off TEXT. Returns false if other text follows the address. */
static bool cut_port(char *text) {
  char *end = text[0] == '[' ? strchr(text, ']') : strchr(text, ':');
  if (end == NULL) return text[0] != '[';
  char *colon = text[0] == '[' ? end + 1 : end;
  if (*colon == ':' ? !is_port(colon + 1) : *colon != '\0') return false;
  *end = '\0';
  return true;
}

bool gate_is_loopback_host(struct span host) {
  char text[HOST_BYTES_MAX];
  if (host.len == 0 || host.len >= sizeof text) return false;
  memcpy(text, host.data, host.len);
  text[host.len] = '\0';
  if (strlen(text) != host.len || !cut_port(text)) return false;
  struct in6_addr six;
  if (text[0] == '[') return inet_pton(AF_INET6, text + 1, &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
  struct in_addr four;
  if (inet_pton(AF_INET, text, &four) == 1) return ntohl(four.s_addr) >> 24 == 127;
  return strcasecmp(text, "localhost") == 0;
}

static bool is_word(struct span text, const char *word) {
  return text.len == strlen(word) && strncasecmp((const char *)text.data, word, text.len) == 0;
}

/* Returns whether ORIGIN is "http://HOST" or "https://HOST". */
static bool is_origin_of(struct span origin, struct span host) {
  static const char *const schemes[] = {"http://", "https://"};
  for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
    size_t len = strlen(schemes[i]);
    if (origin.len == len + host.len &&
        strncasecmp((const char *)origin.data, schemes[i], len) == 0 &&
        strncasecmp((const char *)origin.data + len, (const char *)host.data, host.len) == 0)
      return true;
  }
  return false;
}

/* Returns whether a page of another site caused the browser's request. */
static bool is_cross_site(const struct gate_visitor *visitor) {
  if (is_word(visitor->fetch_site, "cross-site") || is_word(visitor->fetch_site, "same-site"))
    return true;
  return visitor->origin.len > 0 && !is_origin_of(visitor->origin, visitor->host);
}

/* Returns NULL if VISITOR may read without a token, else the reason why not. */
static const char *refuse_tokenless(const struct gate_visitor *visitor) {
  if (!visitor->is_read) return "writing needs a token";
  if (!visitor->server_is_loopback) return "this collector serves more than its own machine";
  if (!visitor->peer_is_loopback) return "the request comes from another machine";
  if (visitor->is_forwarded) return "a proxy passed the request on";
  if (!gate_is_loopback_host(visitor->host)) return "Host is not a name of this machine";
  if (is_cross_site(visitor))
    return "a web page of another site made the browser ask (Sec-Fetch-Site, Origin)";
  return NULL;
}

/* Copies the token after "Bearer " into TOKEN. Returns whether it is well-formed and fits. */
static bool take_bearer(struct span authorization, char *token, size_t token_len) {
  static const char scheme[] = "Bearer ";
  size_t skip = sizeof scheme - 1;
  if (authorization.len <= skip || authorization.len - skip >= token_len) return false;
  if (strncasecmp((const char *)authorization.data, scheme, skip) != 0) return false;
  memcpy(token, authorization.data + skip, authorization.len - skip);
  token[authorization.len - skip] = '\0';
  return strchr(token, ' ') == NULL && strchr(token, '\t') == NULL;
}

/* Returns whether the request only reads. The list of debug files is also open to the read role. */
static bool is_reading(const struct gate_visitor *visitor, enum role role) {
  return role == ROLE_READ || (role == ROLE_SYMBOLS && visitor->is_read);
}

static bool may(const struct gate_visitor *visitor, enum role shown, enum role role) {
  return shown == role || shown == ROLE_ADMIN || (shown == ROLE_READ && is_reading(visitor, role));
}

int gate_check(struct access *access, const struct gate_visitor *visitor, enum role role,
               const char **why) {
  if (role == ROLE_NONE) return 0;
  if (visitor->authorization.len == 0) {
    *why = refuse_tokenless(visitor);
    if (*why == NULL && !is_reading(visitor, role)) *why = "only reading goes without a token";
    return *why ? 401 : 0;
  }
  char token[LIMIT_TOKEN_BYTES];
  if (!take_bearer(visitor->authorization, token, sizeof token)) {
    *why = "Authorization is not `Bearer TOKEN`";
    return 401;
  }
  enum role shown = access_token_role(access, token);
  if (may(visitor, shown, role)) return 0;
  if (shown != ROLE_NONE) {
    *why = "the token is good, but not for this: its role is another";
    return 403;
  }
  *why = "the token is unknown or has expired";
  return visitor->was_looked_up ? 401 : GATE_LOOK_UP;
}

uint64_t gate_requester(const struct sockaddr *peer, struct span authorization) {
  const struct sockaddr_in *four = (const void *)peer;
  const struct sockaddr_in6 *six = (const void *)peer;
  uint64_t key = 0;
  if (authorization.len > 0)
    key = table_hash(authorization.data, authorization.len, 1);
  else if (gate_is_loopback_address(peer))
    key = 1;
  else if (peer->sa_family == AF_INET)
    key = table_hash(&four->sin_addr, sizeof four->sin_addr, 0);
  else
    key = table_hash(&six->sin6_addr,
                     IN6_IS_ADDR_V4MAPPED(&six->sin6_addr) ? sizeof six->sin6_addr : HALF_BYTES, 0);
  return key != 0 ? key : 1;
}

void gate_look_up(struct access *access, struct span authorization) {
  char token[LIMIT_TOKEN_BYTES];
  if (take_bearer(authorization, token, sizeof token)) access_token_learn(access, token);
}
