/* SPDX-License-Identifier: Apache-2.0 */
/* A certificate is renewed when half of its life is over by the collector's clock, because the
   collector will check it; the board's own clock may be in 1970.  So a board may be offline for the
   other half before it expires.  Even then the collector accepts one request for the same key.

   Boards that were enrolled together renew at different times: each adds a part of its
   certificate's life that the certificate's digest selects, the same at every start.  The wait is
   short and random in three cases: the collector's CA certificates differ from the board's, an
   older one of several signed the board's, or the board's certificate begins after the collector's
   time: it was signed by a wrong clock, and would last until then.  A rollover must reach every
   board, but not within one second.

   The session's answer is as trustworthy as the CA that authenticated it, and is checked all the
   same.  A certificate for another key or name would fail only at the next connect, when the old
   identity is gone.  So would a certificate that the new CA certificates do not verify. */
#include "renewal.h"

#include "common/buf.h"
#include "common/clock.h"
#include "common/tls_trust.h"
#include "credentials/credential_files.h"
#include "credentials/credential_request.h"
#include "proto/limits.h"
#include "proto/payloads.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <stdio.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

enum {
  SPREAD_PART = 16, /* of a certificate's life: the spread of renewals after its half */
  HASTE_PART = 64,  /* the same for a new CA, at most HASTE_SECONDS */
  HASTE_SECONDS = 60,
  COLLECTOR_BYTES = 512,
};

/* Reads the file PATH, at most LIMIT_CERTIFICATE_BYTES. */
static int read_file(const char *path, struct buf *ret) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -errno;
  uint8_t *at = buf_reserve(ret, LIMIT_CERTIFICATE_BYTES + 1);
  ssize_t got = 1;
  while (at != NULL && got > 0 && ret->len <= LIMIT_CERTIFICATE_BYTES) {
    got = read(fd, ret->data + ret->len, LIMIT_CERTIFICATE_BYTES + 1 - ret->len);
    if (got > 0) ret->len += (size_t)got;
  }
  int result = at == NULL ? -ENOMEM : got < 0 ? -errno : 0;
  close(fd);
  return result == 0 && ret->len > LIMIT_CERTIFICATE_BYTES ? -EBADMSG : result;
}

static X509 *read_certificate(const char *path) {
  struct buf pem = {0};
  X509 *certificate = read_file(path, &pem) == 0 ? credential_certificate_parse(buf_span(&pem)) : 0;
  buf_fini(&pem);
  return certificate;
}

/* Returns whether a certificate in PEM has signed LEAF; with IS_LAST only the last may. */
static bool is_signed(X509 *leaf, struct span pem, bool is_last) {
  bool is_ours = false;
  BIO *bio = BIO_new_mem_buf(pem.data, (int)pem.len);
  for (X509 *root; bio != NULL && (root = PEM_read_bio_X509(bio, NULL, NULL, NULL)) != NULL;) {
    bool is_by_it = X509_verify(leaf, X509_get0_pubkey(root)) == 1;
    is_ours = is_by_it || (is_ours && !is_last);
    X509_free(root);
  }
  BIO_free(bio);
  ERR_clear_error();
  return is_ours;
}

static bool read_time(const ASN1_TIME *time, int64_t *ret_s) {
  struct tm broken_down;
  if (ASN1_TIME_to_tm(time, &broken_down) != 1) return false;
  *ret_s = (int64_t)timegm(&broken_down);
  return true;
}

/* The same at every start for one certificate: frequent restarts do not cause an early renewal. */
static uint64_t spread_of(X509 *certificate) {
  uint8_t digest[EVP_MAX_MD_SIZE] = {0};
  X509_digest(certificate, EVP_sha256(), digest, NULL);
  return digest[0];
}

static uint64_t random_below(uint64_t limit) {
  uint64_t bits;
  if (limit == 0) return 0;
  if (getrandom(&bits, sizeof bits, GRND_NONBLOCK) != (ssize_t)sizeof bits)
    bits = clock_monotonic_ns() * 0x9e3779b97f4a7c15ULL;
  return bits % limit;
}

static int judge(X509 *certificate, struct span ca, uint64_t now_ns, uint64_t trust,
                 uint64_t *ret_wait_ns) {
  int64_t from_s, until_s;
  if (!read_time(X509_get0_notBefore(certificate), &from_s) ||
      !read_time(X509_get0_notAfter(certificate), &until_s) || from_s < 0 || until_s <= from_s)
    return -EBADMSG;
  uint64_t life_ns = (uint64_t)(until_s - from_s) * NS_PER_SECOND;
  uint64_t due_ns = (uint64_t)from_s * NS_PER_SECOND + life_ns / 2 +
                    life_ns / SPREAD_PART / 256 * spread_of(certificate);
  *ret_wait_ns = due_ns > now_ns ? due_ns - now_ns : 0;
  bool is_ahead = now_ns >= CLOCK_PLAUSIBLE_NS && (uint64_t)from_s > now_ns / NS_PER_SECOND;
  if (!is_ahead && trust == tls_trust_of(ca) && is_signed(certificate, ca, true)) return 0;
  uint64_t haste_ns = life_ns / HASTE_PART;
  if (haste_ns > HASTE_SECONDS * NS_PER_SECOND) haste_ns = HASTE_SECONDS * NS_PER_SECOND;
  haste_ns = random_below(haste_ns);
  if (haste_ns < *ret_wait_ns) *ret_wait_ns = haste_ns;
  return 0;
}

int renewal_wait_ns(const struct renewal_files *files, uint64_t now_ns, uint64_t trust,
                    uint64_t *ret_wait_ns) {
  struct buf ca = {0};
  X509 *certificate = read_certificate(files->certificate);
  int result = certificate == NULL ? -EBADMSG : read_file(files->ca, &ca);
  if (result == 0) result = judge(certificate, buf_span(&ca), now_ns, trust, ret_wait_ns);
  X509_free(certificate);
  buf_fini(&ca);
  ERR_clear_error();
  return result;
}

static EVP_PKEY *read_key(const char *path) {
  FILE *file = fopen(path, "re");
  if (file == NULL) return NULL;
  EVP_PKEY *key = PEM_read_PrivateKey(file, NULL, NULL, NULL);
  fclose(file);
  ERR_clear_error();
  return key;
}

int renewal_ask(const struct renewal_files *files, bool is_same_key, EVP_PKEY **ret_key,
                struct buf *ret_csr) {
  EVP_PKEY *key = is_same_key ? read_key(files->key) : credential_key_make();
  if (key == NULL) return is_same_key ? -EBADMSG : -ENOMEM;
  int result = credential_request_make(key, ret_csr);
  if (result == 0)
    *ret_key = key;
  else
    EVP_PKEY_free(key);
  return result;
}

static const char *check(X509 *new, X509 *old, EVP_PKEY *key, struct span ca) {
  if (new == NULL) return "the new certificate does not read";
  if (X509_check_private_key(new, key) != 1) return "the new certificate is for another key";
  if (old != NULL && X509_NAME_cmp(X509_get_subject_name(new), X509_get_subject_name(old)) != 0)
    return "the new certificate is for another name";
  if (ca.len == 0 || !is_signed(new, ca, false)) return "the new certificate is not by the new CA";
  return NULL;
}

static int install(const struct renewal_files *files, struct span key,
                   const struct renewed *renewed) {
  char collector[COLLECTOR_BYTES];
  int len = snprintf(collector, sizeof collector, "%s\n", files->collector);
  if (len < 0 || (size_t)len >= sizeof collector) return -ENAMETOOLONG;
  const struct credential_files new = {.key = key,
                                       .certificate = renewed->certificate,
                                       .ca = renewed->ca,
                                       .collector = span_of(collector, (size_t)len)};
  return credential_files_install(files->state_dir, &new);
}

const char *renewal_install(const struct renewal_files *files, EVP_PKEY *key,
                            const struct renewed *renewed) {
  if (renewed->error[0] != '\0') return renewed->error;
  struct buf key_pem = {0};
  X509 *new = credential_certificate_parse(renewed->certificate);
  X509 *old = read_certificate(files->certificate);
  const char *wrong = check(new, old, key, renewed->ca);
  int result = wrong == NULL ? credential_key_print(key, &key_pem) : 0;
  if (wrong == NULL && result == 0) result = install(files, buf_span(&key_pem), renewed);
  if (result != 0) wrong = strerror(-result);
  if (key_pem.data != NULL) OPENSSL_cleanse(key_pem.data, key_pem.len);
  buf_fini(&key_pem);
  X509_free(new);
  X509_free(old);
  ERR_clear_error();
  return wrong;
}
