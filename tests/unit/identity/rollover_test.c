/* SPDX-License-Identifier: Apache-2.0 */
/* Replacing the root: the signer of each certificate, and the state after a crash. */
#include "identity/rollover.h"

#include "common/buf.h"
#include "common/tls_trust.h"
#include "identity/ca.h"
#include "identity/ca_files.h"
#include "identity/certificate.h"
#include "request_fixture.h"

#include <errno.h>
#include <openssl/pem.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char dir[64], error[256], why[256];
static struct request request;

static int make_dir(void **state) {
  (void)state;
  snprintf(dir, sizeof dir, "/tmp/fleetprof-rollover-XXXXXX");
  return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state) {
  char command[128];
  (void)state;
  snprintf(command, sizeof command, "rm -rf %s", dir);
  return system(command);
}

static struct ca *open_ca(void) {
  struct ca *ca = NULL;
  if (ca_open(dir, &ca, error, sizeof error) != 0) fail_msg("%s", error);
  return ca;
}

static const char *path_of(const char *name) {
  static char path[4][128];
  static unsigned turn;
  snprintf(path[++turn % 4], sizeof path[0], "%s/ca/%s", dir, name);
  return path[turn % 4];
}

static bool is_there(const char *name) {
  return access(path_of(name), F_OK) == 0;
}

static void assert_signed_by(struct ca *ca, bool is_newest, X509 *root) {
  EVP_PKEY *key = EVP_EC_gen("P-256");
  struct buf pem = {0};
  request_make(key, key, &request);
  const struct ca_request asked = {request_span(&request), "edge-1", is_newest};
  assert_int_equal(ca_sign(ca, &asked, &pem, why, sizeof why), 0);
  BIO *memory = BIO_new_mem_buf(pem.data, (int)pem.len);
  X509 *certificate = PEM_read_bio_X509(memory, NULL, NULL, NULL);
  assert_int_equal(X509_verify(certificate, X509_get0_pubkey(root)), 1);
  X509_free(certificate);
  BIO_free(memory);
  buf_fini(&pem);
  EVP_PKEY_free(key);
}

static X509 *root_of(const char *name) {
  X509 *root = ca_files_read_certificate(path_of(name));
  assert_non_null(root);
  return root;
}

static void start(void) {
  if (rollover_start(dir, error, sizeof error) != 0) fail_msg("%s", error);
}

static void refresh(struct ca *ca) {
  if (ca_refresh(ca, error, sizeof error) != 0) fail_msg("%s", error);
}

static void who_enrolls_is_signed_by_the_first_and_who_renews_by_the_second(void **state) {
  (void)state;
  struct ca *ca = open_ca();
  uint64_t trust = ca_trust(ca), generation = ca_generation(ca);
  assert_int_equal(ca_next_id(ca), 0);
  start();
  assert_int_equal(ca_next_id(ca), 0); /* not noticed yet */
  refresh(ca);
  assert_int_not_equal(ca_generation(ca), generation);
  X509 *first = root_of("root.pem"), *second = root_of("next.pem");
  assert_int_equal(ca_next_id(ca), certificate_id(second));
  assert_int_not_equal(ca_trust(ca), trust);
  assert_signed_by(ca, false, first);
  assert_signed_by(ca, true, second);
  struct ca_next_paths next;
  assert_true(ca_next_paths(ca, &next));
  X509 *server = ca_files_read_certificate(next.certificate);
  assert_int_equal(X509_verify(server, X509_get0_pubkey(second)), 1);
  X509_free(server);
  X509_free(second);
  X509_free(first);
  ca_close(ca);
}

static void boards_get_both_roots_the_newest_last(void **state) {
  (void)state;
  struct ca *ca = open_ca();
  struct buf both = {0}, last = {0};
  start();
  refresh(ca);
  assert_int_equal(ca_roots(ca, &both), 0);
  X509 *second = root_of("next.pem");
  BIO *memory = BIO_new(BIO_s_mem());
  char *text;
  PEM_write_bio_X509(memory, second);
  long len = BIO_get_mem_data(memory, &text);
  buf_append(&last, text, (size_t)len);
  assert_true(both.len > last.len);
  assert_memory_equal(both.data + both.len - last.len, last.data, last.len);
  assert_int_equal(ca_trust(ca), tls_trust_of(buf_span(&both)));
  BIO_free(memory);
  X509_free(second);
  buf_fini(&last);
  buf_fini(&both);
  ca_close(ca);
}

static void afterwards_the_second_is_the_only_one(void **state) {
  (void)state;
  struct ca *ca = open_ca();
  start();
  refresh(ca);
  X509 *second = root_of("next.pem");
  assert_int_equal(rollover_finish(dir, error, sizeof error), 0);
  refresh(ca);
  X509 *root = root_of("root.pem"), *server = root_of("server.pem");
  assert_int_equal(X509_cmp(root, second), 0);
  assert_int_equal(ca_next_id(ca), 0);
  assert_signed_by(ca, false, second);
  assert_signed_by(ca, true, second);
  assert_int_equal(X509_verify(server, X509_get0_pubkey(second)), 1);
  assert_false(is_there("next.key") || is_there("next.pem") || is_there("server-next.key"));
  assert_true(is_there("retired.pem"));
  ca_close(ca);
  ca = open_ca(); /* and a new start finds the same */
  assert_signed_by(ca, false, second);
  X509_free(server);
  X509_free(root);
  X509_free(second);
  ca_close(ca);
}

static void an_end_that_was_cut_off_is_ended_by_whoever_opens_it_next(void **state) {
  (void)state;
  for (int cut = 0; cut < 3; cut++) {
    ca_close(open_ca());
    start();
    ca_close(open_ca()); /* makes the second server certificate, as a running collector does */
    X509 *second = root_of("next.pem");
    assert_int_equal(rename(path_of("root.pem"), path_of("retired.pem")), 0);
    if (cut > 0) assert_int_equal(rename(path_of("next.key"), path_of("root.key")), 0);
    if (cut > 1) assert_int_equal(rename(path_of("next.pem"), path_of("root.pem")), 0);
    assert_int_equal(ca_look(dir), 0);
    struct ca *ca = open_ca();
    assert_int_equal(ca_next_id(ca), 0);
    assert_signed_by(ca, false, second);
    ca_close(ca);
    X509_free(second);
    start(); /* its remains do not block another rollover */
    ca = open_ca();
    second = root_of("next.pem");
    assert_signed_by(ca, true, second);
    ca_close(ca);
    X509_free(second);
    remove_dir(NULL);
    make_dir(NULL);
  }
}

static void a_start_that_was_cut_off_is_made_anew(void **state) {
  (void)state;
  struct ca *ca = open_ca();
  start();
  assert_int_equal(unlink(path_of("next.pem")), 0); /* the key alone was written */
  refresh(ca);
  assert_int_equal(ca_next_id(ca), 0);
  start();
  refresh(ca);
  X509 *second = root_of("next.pem");
  assert_signed_by(ca, true, second);
  X509_free(second);
  ca_close(ca);
}

static void starting_twice_keeps_the_second_root(void **state) {
  (void)state;
  ca_close(open_ca());
  start();
  X509 *second = root_of("next.pem");
  assert_int_equal(rollover_start(dir, error, sizeof error), 1);
  X509 *again = root_of("next.pem");
  assert_int_equal(X509_cmp(second, again), 0);
  X509_free(again);
  X509_free(second);
}

static void a_second_root_of_ones_own_needs_its_key(void **state) {
  (void)state;
  struct ca *ca = open_ca();
  X509 *root = root_of("root.pem");
  assert_int_equal(ca_files_write_chain(path_of("next.pem"), root, NULL), 0);
  assert_int_equal(rollover_start(dir, error, sizeof error), -EBADMSG);
  assert_non_null(strstr(error, "next.key"));
  assert_int_equal(ca_refresh(ca, error, sizeof error), -EBADMSG);
  assert_signed_by(ca, true, root); /* as before */
  EVP_PKEY *key = ca_files_read_key(path_of("root.key"));
  assert_int_equal(ca_files_write_key(path_of("next.key"), key), 0);
  assert_int_equal(rollover_start(dir, error, sizeof error), -EEXIST);
  EVP_PKEY_free(key);
  X509_free(root);
  ca_close(ca);
}

static void nothing_is_finished_that_was_not_begun(void **state) {
  (void)state;
  ca_close(open_ca());
  assert_int_equal(rollover_finish(dir, error, sizeof error), -ENOENT);
  assert_true(is_there("root.pem"));
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_dir, remove_dir)
  const struct CMUnitTest tests[] = {
      TEST(who_enrolls_is_signed_by_the_first_and_who_renews_by_the_second),
      TEST(boards_get_both_roots_the_newest_last),
      TEST(afterwards_the_second_is_the_only_one),
      TEST(an_end_that_was_cut_off_is_ended_by_whoever_opens_it_next),
      TEST(a_start_that_was_cut_off_is_made_anew),
      TEST(starting_twice_keeps_the_second_root),
      TEST(a_second_root_of_ones_own_needs_its_key),
      TEST(nothing_is_finished_that_was_not_begun),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
