/* SPDX-License-Identifier: Apache-2.0 */
/* When a board renews: by the collector's time, and at once if its certificate is of the future. */
#include "uplink/renewal.h"

#include "common/clock.h"
#include "common/tls_trust.h"

#include <openssl/pem.h>
#include <openssl/x509.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define FROM_S 1800000000
#define DAY_NS (24 * 3600 * NS_PER_SECOND)
#define FROM_NS (FROM_S * NS_PER_SECOND)

static char dir[64], certificate_path[128];
static uint64_t trust;

/* A self-signed certificate of 30 days from FROM_S is the board's, and its CA's. */
static int make_files(void **state) {
  (void)state;
  char pem[4096] = "";
  snprintf(dir, sizeof dir, "/tmp/fleetprof-renewal-XXXXXX");
  if (mkdtemp(dir) == NULL) return -1;
  snprintf(certificate_path, sizeof certificate_path, "%s/board.crt", dir);
  EVP_PKEY *key = EVP_EC_gen("P-256");
  X509 *certificate = X509_new();
  ASN1_TIME_set(X509_getm_notBefore(certificate), FROM_S);
  ASN1_TIME_set(X509_getm_notAfter(certificate), FROM_S + 30 * 24 * 3600);
  X509_set_pubkey(certificate, key);
  X509_sign(certificate, key, EVP_sha256());
  FILE *file = fopen(certificate_path, "w+");
  PEM_write_X509(file, certificate);
  rewind(file);
  size_t len = fread(pem, 1, sizeof pem, file);
  fclose(file);
  trust = tls_trust_of(span_of(pem, len));
  X509_free(certificate);
  EVP_PKEY_free(key);
  return 0;
}

static int remove_files(void **state) {
  (void)state;
  unlink(certificate_path);
  return rmdir(dir);
}

static uint64_t wait_at(uint64_t now_ns) {
  const struct renewal_files files = {.certificate = certificate_path, .ca = certificate_path};
  uint64_t wait_ns = 0;
  assert_int_equal(renewal_wait_ns(&files, now_ns, trust, &wait_ns), 0);
  return wait_ns;
}

static void a_certificate_is_renewed_after_half_of_its_life(void **state) {
  (void)state;
  assert_in_range(wait_at(FROM_NS), 15 * DAY_NS, 17 * DAY_NS);
  assert_in_range(wait_at(FROM_NS + 10 * DAY_NS), 5 * DAY_NS, 7 * DAY_NS);
  assert_int_equal(wait_at(FROM_NS + 17 * DAY_NS), 0);
}

static void a_certificate_of_the_future_is_renewed_at_once(void **state) {
  (void)state;
  assert_true(wait_at(FROM_NS - NS_PER_SECOND) < 60 * NS_PER_SECOND);
  assert_true(wait_at(FROM_NS - 365 * DAY_NS) < 60 * NS_PER_SECOND);
}

/* A new one would be no better. */
static void a_collector_of_1970_has_nothing_renewed(void **state) {
  (void)state;
  assert_true(wait_at(DAY_NS) > 15 * DAY_NS);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_certificate_is_renewed_after_half_of_its_life),
      cmocka_unit_test(a_certificate_of_the_future_is_renewed_at_once),
      cmocka_unit_test(a_collector_of_1970_has_nothing_renewed),
  };
  return cmocka_run_group_tests(tests, make_files, remove_files);
}
