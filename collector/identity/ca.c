/* SPDX-License-Identifier: Apache-2.0 */
/* The fleet's certificate authority.

   DIR/ca/  lock        held while files are made or renewed
            root.key    P-256, made once
            root.pem    ten years; what every board pins
            server.key  renewed together with
            server.pem  the collector's certificate, then the root, so that a board that knows only
                        the root's fingerprint finds the root in the handshake

   Order makes a crash harmless: a key is written before its certificate, so a key without one was
   never used and is made again; a root certificate without its key is a loss that only a person can
   judge, and stops us.  Whoever opens renews the server certificate when less than half of its life
   is left, so a collector that runs for a year without a restart never serves an expired one.

   It does not keep a list of what it signed: that is access.c's. */
#include "ca.h"

#include "board_name.h"
#include "ca_files.h"
#include "certificate.h"
#include "common/buf.h"
#include "common/tls_trust.h"
#include "csr.h"

#include <errno.h>
#include <limits.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
  ROOT_DAYS = 3653,
  SERVER_DAYS = 730,
  SERVER_RENEW_DAYS = 365,
  BOARD_DAYS = 30,
  DAY_SECONDS = 24 * 60 * 60,
  HOST_NAME_BYTES = 65, /* Linux gives a host at most 64 characters */
  ROOT_TAG_BYTES = 4,   /* of randomness in the root's name, to tell fleets apart in a browser */
};

struct ca {
  X509 *root;
  EVP_PKEY *root_key;
  long board_seconds;
  char root_path[PATH_MAX], root_key_path[PATH_MAX];
  char server_path[PATH_MAX], server_key_path[PATH_MAX];
};

static int complain(char *error, size_t error_len, int failure, const char *what) {
  snprintf(error, error_len, "certificate authority: %s: %s", what, strerror(-failure));
  ERR_clear_error();
  return failure;
}

static int set_paths(struct ca *ca, const char *dir) {
  const struct {
    char *path;
    const char *name;
  } rows[] = {{ca->root_path, "root.pem"},
              {ca->root_key_path, "root.key"},
              {ca->server_path, "server.pem"},
              {ca->server_key_path, "server.key"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (snprintf(rows[i].path, PATH_MAX, "%s/ca/%s", dir, rows[i].name) >= PATH_MAX)
      return -ENAMETOOLONG;
  return 0;
}

static int make_root(struct ca *ca) {
  uint8_t tag[ROOT_TAG_BYTES];
  char name[64];
  if (RAND_bytes(tag, sizeof tag) != 1) return -EIO;
  snprintf(name, sizeof name, "fleetprof root %02x%02x%02x%02x", tag[0], tag[1], tag[2], tag[3]);
  struct certificate_terms terms = {.use = CERTIFICATE_ROOT, .name = name, .days = ROOT_DAYS};
  ca->root_key = certificate_key_make();
  if (ca->root_key == NULL) return -ENOMEM;
  ca->root = certificate_make(&terms, ca->root_key, NULL, ca->root_key);
  if (ca->root == NULL) return -ENOMEM;
  int result = ca_files_write_key(ca->root_key_path, ca->root_key);
  return result == 0 ? ca_files_write_chain(ca->root_path, ca->root, NULL) : result;
}

static int load_root(struct ca *ca, char *error, size_t error_len) {
  if (access(ca->root_path, F_OK) != 0) {
    int made = make_root(ca);
    return made == 0 ? 0 : complain(error, error_len, made, "cannot make the root");
  }
  ca->root = ca_files_read_certificate(ca->root_path);
  if (ca->root == NULL) return complain(error, error_len, -EBADMSG, ca->root_path);
  ca->root_key = ca_files_read_key(ca->root_key_path);
  if (ca->root_key == NULL) return complain(error, error_len, -EBADMSG, ca->root_key_path);
  if (X509_check_private_key(ca->root, ca->root_key) != 1)
    return complain(error, error_len, -EBADMSG, "root.key is not the key of root.pem");
  return 0;
}

/* Writes this machine's name into NAME, or "localhost" when it has none that fits a certificate. */
static void host_name(char name[HOST_NAME_BYTES]) {
  if (gethostname(name, HOST_NAME_BYTES) != 0) name[0] = 0;
  name[HOST_NAME_BYTES - 1] = 0;
  size_t len = strlen(name);
  if (len == 0 || strspn(name, BOARD_NAME_ALNUM ".-") != len)
    snprintf(name, HOST_NAME_BYTES, "localhost");
}

static bool is_server_good(const struct ca *ca, X509 *server, EVP_PKEY *key) {
  char host[HOST_NAME_BYTES];
  host_name(host);
  time_t soon = time(NULL) + (time_t)SERVER_RENEW_DAYS * DAY_SECONDS;
  return server != NULL && key != NULL && X509_check_private_key(server, key) == 1 &&
         X509_verify(server, ca->root_key) == 1 && X509_check_host(server, host, 0, 0, NULL) == 1 &&
         X509_cmp_time(X509_get0_notAfter(server), &soon) > 0;
}

static int make_server(struct ca *ca) {
  char host[HOST_NAME_BYTES], alt_names[3 * HOST_NAME_BYTES];
  host_name(host);
  snprintf(alt_names, sizeof alt_names, "DNS:%s,DNS:localhost,IP:127.0.0.1,IP:::1", host);
  struct certificate_terms terms = {
      .use = CERTIFICATE_SERVER, .name = host, .alt_names = alt_names, .days = SERVER_DAYS};
  EVP_PKEY *key = certificate_key_make();
  X509 *server = key ? certificate_make(&terms, key, ca->root, ca->root_key) : NULL;
  int result = server ? ca_files_write_key(ca->server_key_path, key) : -ENOMEM;
  if (result == 0) result = ca_files_write_chain(ca->server_path, server, ca->root);
  X509_free(server);
  EVP_PKEY_free(key);
  return result;
}

static int load_server(struct ca *ca, char *error, size_t error_len) {
  X509 *server = ca_files_read_certificate(ca->server_path);
  EVP_PKEY *key = ca_files_read_key(ca->server_key_path);
  bool is_good = is_server_good(ca, server, key);
  X509_free(server);
  EVP_PKEY_free(key);
  ERR_clear_error();
  if (is_good) return 0;
  int made = make_server(ca);
  return made == 0 ? 0 : complain(error, error_len, made, "cannot make the server certificate");
}

static int load(struct ca *ca, const char *dir, char *error, size_t error_len) {
  char folder[PATH_MAX];
  if (set_paths(ca, dir) != 0) return complain(error, error_len, -ENAMETOOLONG, dir);
  if (mkdir(dir, 0700) != 0 && errno != EEXIST) return complain(error, error_len, -errno, dir);
  snprintf(folder, sizeof folder, "%s/ca", dir);
  int lock = ca_files_lock(folder);
  if (lock < 0) return complain(error, error_len, lock, folder);
  int result = load_root(ca, error, error_len);
  if (result == 0) result = load_server(ca, error, error_len);
  close(lock);
  return result;
}

int ca_look(const char *dir) {
  struct ca ca;
  if (set_paths(&ca, dir) != 0) return -ENAMETOOLONG;
  if (access(ca.root_path, F_OK) == 0) return 0;
  return errno == ENOTDIR ? -ENOENT : -errno;
}

int ca_open(const char *dir, struct ca **ret, char *error, size_t error_len) {
  struct ca *ca = calloc(1, sizeof *ca);
  if (ca == NULL) return complain(error, error_len, -ENOMEM, dir);
  ca->board_seconds = (long)BOARD_DAYS * DAY_SECONDS;
  int result = load(ca, dir, error, error_len);
  if (result != 0) {
    ca_close(ca);
    return result;
  }
  *ret = ca;
  return 0;
}

void ca_close(struct ca *ca) {
  if (ca == NULL) return;
  X509_free(ca->root);
  EVP_PKEY_free(ca->root_key);
  free(ca);
}

const char *ca_server_certificate_path(const struct ca *ca) {
  return ca->server_path;
}

const char *ca_server_key_path(const struct ca *ca) {
  return ca->server_key_path;
}

const char *ca_root_path(const struct ca *ca) {
  return ca->root_path;
}

void ca_fingerprint(const struct ca *ca, uint8_t fingerprint[32]) {
  unsigned len = 0;
  X509_digest(ca->root, EVP_sha256(), fingerprint, &len);
}

static int append_pem(X509 *certificate, struct buf *ret) {
  BIO *memory = BIO_new(BIO_s_mem());
  char *text = NULL;
  int result = -ENOMEM;
  if (memory != NULL && PEM_write_bio_X509(memory, certificate) == 1) {
    long len = BIO_get_mem_data(memory, &text);
    buf_append(ret, text, (size_t)len);
    result = ret->failed ? -ENOMEM : 0;
  }
  BIO_free(memory);
  return result;
}

int ca_roots(const struct ca *ca, struct buf *ret) {
  return append_pem(ca->root, ret);
}

uint64_t ca_trust(const struct ca *ca) {
  struct buf roots = {0};
  uint64_t trust = ca_roots(ca, &roots) == 0 ? tls_trust_of(buf_span(&roots)) : 0;
  buf_fini(&roots);
  return trust;
}

void ca_set_board_life(struct ca *ca, uint64_t seconds) {
  ca->board_seconds = (long)seconds;
}

int ca_check(struct span csr, uint8_t *ret_key, char *why, size_t why_len) {
  EVP_PKEY *key;
  int result = csr_key(csr, &key, why, why_len);
  if (result != 0) return result;
  if (ret_key != NULL) result = certificate_key_digest(key, ret_key);
  EVP_PKEY_free(key);
  return result;
}

int ca_sign(struct ca *ca, struct span csr, const char *board, struct buf *ret, char *why,
            size_t why_len) {
  char uri[sizeof "URI:spiffe://fleetprof/board/" + BOARD_NAME_BYTES];
  if (!board_name_is_valid(board)) {
    snprintf(why, why_len, "board name is not made of [A-Za-z0-9._-]");
    return -EBADMSG;
  }
  EVP_PKEY *key;
  int result = csr_key(csr, &key, why, why_len);
  if (result != 0) return result;
  snprintf(uri, sizeof uri, "URI:spiffe://fleetprof/board/%s", board);
  struct certificate_terms terms = {
      .use = CERTIFICATE_BOARD, .name = board, .alt_names = uri, .seconds = ca->board_seconds};
  X509 *certificate = certificate_make(&terms, key, ca->root, ca->root_key);
  result = certificate ? append_pem(certificate, ret) : -ENOMEM;
  X509_free(certificate);
  EVP_PKEY_free(key);
  return result;
}
