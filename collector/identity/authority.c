/* SPDX-License-Identifier: Apache-2.0 */
/* A root, valid for ten years, and a server certificate of two years, signed by it.

   The order of writes makes a crash harmless. A key is written before its certificate, so a key
   without a certificate was never used and is replaced. A root certificate without its key is a
   loss that only a person can assess: opening fails. Opening renews the server certificate if less
   than half of its life is left. It returns the time of the next renewal, for a collector that is
   never restarted. */
#include "authority.h"

#include "board_name.h"
#include "ca_files.h"
#include "certificate.h"
#include "common/clock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

enum {
  ROOT_DAYS = 3653,
  SERVER_DAYS = 730,
  SERVER_RENEW_DAYS = 365,
  DAY_SECONDS = 24 * 60 * 60,
  HOST_NAME_BYTES = 65, /* Linux limits host names to 64 characters */
  NAME_BYTES = 201,     /* DNS allows 253, but a link with the name has to fit LIMIT_VALUE_BYTES */
  ROOT_TAG_BYTES = 4,   /* of randomness in the root's name, to distinguish fleets and roots */
};

int authority_complain(char *error, size_t error_len, int failure, const char *what) {
  snprintf(error, error_len, "certificate authority: %s: %s", what, strerror(-failure));
  ERR_clear_error();
  return failure;
}

int authority_paths(const char *dir, enum authority_rank rank, struct authority_paths *ret) {
  const char *root = rank == AUTHORITY_FIRST ? "root" : "next";
  const char *server = rank == AUTHORITY_FIRST ? "server" : "server-next";
  const struct {
    char *path;
    const char *name, *end;
  } rows[] = {{ret->root, root, "pem"},
              {ret->root_key, root, "key"},
              {ret->server, server, "pem"},
              {ret->server_key, server, "key"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (snprintf(rows[i].path, PATH_MAX, "%s/ca/%s.%s", dir, rows[i].name, rows[i].end) >= PATH_MAX)
      return -ENAMETOOLONG;
  return 0;
}

int authority_make(const struct authority_paths *paths, struct authority *ret) {
  uint8_t tag[ROOT_TAG_BYTES];
  char name[64];
  if (RAND_bytes(tag, sizeof tag) != 1) return -EIO;
  snprintf(name, sizeof name, "fleetprof root %02x%02x%02x%02x", tag[0], tag[1], tag[2], tag[3]);
  struct certificate_terms terms = {.use = CERTIFICATE_ROOT, .name = name, .days = ROOT_DAYS};
  ret->key = certificate_key_make();
  if (ret->key == NULL) return -ENOMEM;
  ret->root = certificate_make(&terms, ret->key, NULL, ret->key);
  if (ret->root == NULL) return -ENOMEM;
  int result = ca_files_write_key(paths->root_key, ret->key);
  return result == 0 ? ca_files_write_chain(paths->root, ret->root, NULL) : result;
}

int authority_load(const struct authority_paths *paths, struct authority *ret, char *error,
                   size_t error_len) {
  ret->root = ca_files_read_certificate(paths->root);
  if (ret->root == NULL) return authority_complain(error, error_len, -EBADMSG, paths->root);
  ret->key = ca_files_read_key(paths->root_key);
  if (ret->key == NULL) return authority_complain(error, error_len, -EBADMSG, paths->root_key);
  if (X509_check_private_key(ret->root, ret->key) == 1) return 0;
  const char *name = strrchr(paths->root, '/') + 1;
  char what[PATH_MAX];
  snprintf(what, sizeof what, "%.4s.key is not the key of %s", name, name);
  return authority_complain(error, error_len, -EBADMSG, what);
}

static bool is_host_name(const char *name) {
  size_t len = strlen(name);
  return len > 0 && len < NAME_BYTES && name[0] != '-' && name[0] != '.' &&
         strspn(name, BOARD_NAME_ALNUM "._-") == len;
}

/* Writes this machine's name into NAME, or "localhost" if the name does not fit a certificate. */
static void host_name(char name[HOST_NAME_BYTES]) {
  if (gethostname(name, HOST_NAME_BYTES) != 0) name[0] = 0;
  name[HOST_NAME_BYTES - 1] = 0;
  if (!is_host_name(name)) snprintf(name, HOST_NAME_BYTES, "localhost");
}

/* Returns when SERVER is due for renewal, in seconds since 1970; 0 if it has no valid end. */
static int64_t due_of(const X509 *server) {
  struct tm end;
  if (ASN1_TIME_to_tm(X509_get0_notAfter(server), &end) != 1) return 0;
  return (int64_t)timegm(&end) - (int64_t)SERVER_RENEW_DAYS * DAY_SECONDS;
}

/* Returns whether LIST, separated by commas, contains TERM. */
static bool has_term(const char *list, const char *term) {
  size_t len = strlen(term);
  for (const char *at = list; *at != '\0';) {
    size_t at_len = strcspn(at, ",");
    if (at_len == len && strncasecmp(at, term, len) == 0) return true;
    at += at_len + (at[at_len] == ',');
  }
  return false;
}

static int add_term(const char *term, char *list) {
  size_t len = strlen(list), more = strlen(term);
  if (has_term(list, term)) return 0;
  if (len + more + sizeof "," > AUTHORITY_NAMES_BYTES) return -EOVERFLOW;
  snprintf(list + len, AUTHORITY_NAMES_BYTES - len, "%s%s", len > 0 ? "," : "", term);
  return 0;
}

int authority_add_name(const char *name, char *ret) {
  char term[NAME_BYTES + sizeof "DNS:"], address[INET6_ADDRSTRLEN];
  struct in6_addr six;
  struct in_addr four;
  if (inet_pton(AF_INET6, name, &six) == 1)
    snprintf(term, sizeof term, "IP:%s", inet_ntop(AF_INET6, &six, address, sizeof address));
  else if (inet_pton(AF_INET, name, &four) == 1)
    snprintf(term, sizeof term, "IP:%s", inet_ntop(AF_INET, &four, address, sizeof address));
  else if (is_host_name(name))
    snprintf(term, sizeof term, "DNS:%s", name);
  else
    return -EINVAL;
  return add_term(term, ret);
}

/* Adds the hosts and addresses of CERTIFICATE; ignores other kinds of names. */
static int add_names_of(const X509 *certificate, char *ret) {
  GENERAL_NAMES *names = X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
  int result = 0;
  for (int i = 0; i < sk_GENERAL_NAME_num(names) && result == 0; i++) {
    const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, i);
    char text[NAME_BYTES] = "";
    if (name->type == GEN_DNS)
      snprintf(text, sizeof text, "%.*s", ASN1_STRING_length(name->d.dNSName),
               (const char *)ASN1_STRING_get0_data(name->d.dNSName));
    else if (name->type == GEN_IPADD)
      inet_ntop(ASN1_STRING_length(name->d.iPAddress) == 4 ? AF_INET : AF_INET6,
                ASN1_STRING_get0_data(name->d.iPAddress), text, sizeof text);
    result = text[0] != '\0' ? authority_add_name(text, ret) : 0;
    if (result == -EINVAL) result = 0;
  }
  GENERAL_NAMES_free(names);
  return result;
}

/* Writes the names of a server certificate: this machine, and NAMES or, if that is NULL, the names
   of SERVER. */
static int list_names(const char *names, const X509 *server, char ret[AUTHORITY_NAMES_BYTES]) {
  char host[HOST_NAME_BYTES];
  host_name(host);
  snprintf(ret, AUTHORITY_NAMES_BYTES, "DNS:%s", host);
  int result = add_term("DNS:localhost", ret);
  if (result == 0) result = add_term("IP:127.0.0.1", ret);
  if (result == 0) result = add_term("IP:::1", ret);
  if (names == NULL) return result == 0 && server != NULL ? add_names_of(server, ret) : result;
  for (const char *at = names; *at != '\0' && result == 0;) {
    char term[NAME_BYTES + sizeof "DNS:"];
    size_t len = strcspn(at, ",");
    snprintf(term, sizeof term, "%.*s", (int)len, at);
    result = add_term(term, ret);
    at += len + (at[len] == ',');
  }
  return result;
}

/* Returns whether SERVER has exactly the names WANTED. */
static bool has_names(const X509 *server, const char *wanted) {
  char named[AUTHORITY_NAMES_BYTES] = "";
  return add_names_of(server, named) == 0 && strcasecmp(named, wanted) == 0;
}

/* A certificate that begins in the future was made while the clock was wrong: boards would reject
   it. While the clock is implausible, a new one would be no better. */
static bool has_begun(const X509 *server, time_t now) {
  return X509_cmp_time(X509_get0_notBefore(server), &now) < 0 ||
         now < (time_t)(CLOCK_PLAUSIBLE_NS / NS_PER_SECOND);
}

static bool is_server_good(const struct authority *authority, X509 *server, EVP_PKEY *key) {
  char host[HOST_NAME_BYTES];
  host_name(host);
  time_t now = (time_t)(clock_judged_ns() / NS_PER_SECOND);
  return server != NULL && key != NULL && X509_check_private_key(server, key) == 1 &&
         X509_verify(server, authority->key) == 1 &&
         X509_check_host(server, host, 0, 0, NULL) == 1 && has_begun(server, now) &&
         due_of(server) > now;
}

/* Makes a certificate with ALT_NAMES, RET, and writes it. */
static int make_server(const struct authority *authority, const struct authority_paths *paths,
                       const char *alt_names, X509 **ret) {
  char host[HOST_NAME_BYTES];
  host_name(host);
  struct certificate_terms terms = {
      .use = CERTIFICATE_SERVER, .name = host, .alt_names = alt_names, .days = SERVER_DAYS};
  EVP_PKEY *key = certificate_key_make();
  X509 *server = key ? certificate_make(&terms, key, authority->root, authority->key) : NULL;
  int result = server ? ca_files_write_key(paths->server_key, key) : -ENOMEM;
  if (result == 0) result = ca_files_write_chain(paths->server, server, authority->root);
  EVP_PKEY_free(key);
  *ret = server;
  return result;
}

int authority_serve(struct authority *authority, const struct authority_paths *paths,
                    const char *names) {
  char wanted[AUTHORITY_NAMES_BYTES];
  X509 *server = ca_files_read_certificate(paths->server);
  EVP_PKEY *key = ca_files_read_key(paths->server_key);
  int result = list_names(names, server, wanted);
  bool is_good =
      is_server_good(authority, server, key) && (names == NULL || has_names(server, wanted));
  if (result == 0 && !is_good) {
    X509_free(server);
    result = make_server(authority, paths, wanted, &server);
  }
  if (result == 0) authority->due_s = due_of(server);
  X509_free(server);
  EVP_PKEY_free(key);
  ERR_clear_error();
  return result;
}

void authority_fini(struct authority *authority) {
  X509_free(authority->root);
  EVP_PKEY_free(authority->key);
  *authority = (struct authority){0};
}
