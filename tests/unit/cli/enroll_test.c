/* SPDX-License-Identifier: Apache-2.0 */
/* Enrolment without a collector: tokens, addresses, accepted answers, and that the identity on disk
   is replaced as a whole. */
#include "cli/enroll_call.h"
#include "cli/enroll_identity.h"
#include "credentials/credential_files.h"
#include "credentials/credential_request.h"

#include "common/buf.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { PATH_BYTES = 256 };

/* 32 characters of secret with '_' and '-' in it, then the fingerprint 00 01 02 ... 1f. */
static const char good_token[] =
    "fpt_Ab_d-fghijklmnopqrstuvwxyz012345_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";

static void a_token_gives_its_fingerprint(void **state) {
  (void)state;
  uint8_t fingerprint[ENROLL_FINGERPRINT_BYTES];
  assert_int_equal(enroll_token_parse(good_token, fingerprint), 0);
  for (uint8_t i = 0; i < sizeof fingerprint; i++) assert_int_equal(fingerprint[i], i);
}

static void a_changed_or_cut_token_is_refused(void **state) {
  (void)state;
  char token[sizeof good_token];
  uint8_t fingerprint[ENROLL_FINGERPRINT_BYTES];
  for (size_t len = 0; len < sizeof good_token - 1; len++) {
    snprintf(token, sizeof token, "%.*s", (int)len, good_token);
    assert_int_equal(enroll_token_parse(token, fingerprint), -EINVAL);
    memcpy(token, good_token, sizeof token);
    token[len] = '+'; /* in base64, not in base64url */
    assert_int_equal(enroll_token_parse(token, fingerprint), -EINVAL);
  }
}

/* --- Answers --- */

struct authority {
  EVP_PKEY *key;
  X509 *root;
  uint8_t fingerprint[ENROLL_FINGERPRINT_BYTES];
};

static X509 *make_certificate(EVP_PKEY *subject_key, const char *name, X509 *issuer,
                              EVP_PKEY *issuer_key) {
  X509 *made = X509_new();
  X509_set_version(made, 2);
  X509_gmtime_adj(X509_getm_notBefore(made), -60);
  X509_gmtime_adj(X509_getm_notAfter(made), 86400);
  X509_set_pubkey(made, subject_key);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(made), "CN", MBSTRING_ASC,
                             (const unsigned char *)name, -1, -1, 0);
  X509_set_issuer_name(made, X509_get_subject_name(issuer ? issuer : made));
  assert_true(X509_sign(made, issuer_key, EVP_sha256()) > 0);
  return made;
}

static void make_authority(struct authority *ret) {
  ret->key = EVP_EC_gen("P-256");
  ret->root = make_certificate(ret->key, "root", NULL, ret->key);
  assert_int_equal(X509_digest(ret->root, EVP_sha256(), ret->fingerprint, NULL), 1);
}

static void fini_authority(struct authority *authority) {
  X509_free(authority->root);
  EVP_PKEY_free(authority->key);
}

static void print_pem(X509 *certificate, struct buf *ret) {
  BIO *memory = BIO_new(BIO_s_mem());
  char *text;
  PEM_write_bio_X509(memory, certificate);
  long len = BIO_get_mem_data(memory, &text);
  buf_append(ret, text, (size_t)len);
  BIO_free(memory);
}

/* Checks an answer with a certificate for KEY by SIGNER that brings CA. */
static const char *check(EVP_PKEY *key, EVP_PKEY *own, const struct authority *signer,
                         const struct authority *ca, const struct authority *pinned) {
  struct buf certificate = {0}, root = {0};
  X509 *leaf = make_certificate(key, "b1", signer->root, signer->key);
  print_pem(leaf, &certificate);
  print_pem(ca->root, &root);
  struct enrolled enrolled = {.certificate = buf_span(&certificate), .ca = buf_span(&root)};
  const char *wrong = enroll_answer_check(&enrolled, own, pinned->fingerprint);
  X509_free(leaf);
  buf_fini(&certificate);
  buf_fini(&root);
  return wrong;
}

static void only_the_right_answer_is_accepted(void **state) {
  (void)state;
  struct authority ours, other;
  make_authority(&ours);
  make_authority(&other);
  EVP_PKEY *key = credential_key_make(), *stranger = credential_key_make();
  assert_null(check(key, key, &ours, &ours, &ours));
  assert_non_null(strstr(check(stranger, key, &ours, &ours, &ours), "another key"));
  assert_non_null(strstr(check(key, key, &other, &ours, &ours), "not signed"));
  assert_non_null(strstr(check(key, key, &other, &other, &ours), "token"));
  struct enrolled empty = {.board = "b1"};
  assert_non_null(enroll_answer_check(&empty, key, ours.fingerprint));
  empty.certificate = empty.ca = span_of_string("no PEM at all");
  assert_non_null(enroll_answer_check(&empty, key, ours.fingerprint));
  EVP_PKEY_free(key);
  EVP_PKEY_free(stranger);
  fini_authority(&ours);
  fini_authority(&other);
}

static void a_request_proves_the_key(void **state) {
  (void)state;
  struct buf der = {0}, pem = {0};
  EVP_PKEY *key = credential_key_make();
  assert_int_equal(credential_request_make(key, &der), 0);
  assert_int_equal(credential_key_print(key, &pem), 0);
  const unsigned char *at = der.data;
  X509_REQ *request = d2i_X509_REQ(NULL, &at, (long)der.len);
  assert_non_null(request);
  assert_int_equal(X509_REQ_verify(request, key), 1);
  assert_memory_equal(pem.data, "-----BEGIN PRIVATE KEY-----", 27);
  X509_REQ_free(request);
  EVP_PKEY_free(key);
  buf_fini(&der);
  buf_fini(&pem);
}

/* --- Files --- */

static int set_up(void **state) {
  char *dir = strdup("/tmp/enroll-test-XXXXXX");
  *state = dir;
  return dir != NULL && mkdtemp(dir) != NULL ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *status, int flag, struct FTW *walk) {
  (void)status, (void)flag, (void)walk;
  return remove(path);
}

static int tear_down(void **state) {
  nftw(*state, remove_one, 8, FTW_DEPTH | FTW_PHYS);
  free(*state);
  return 0;
}

static struct credential_files files_of(const char *text) {
  struct span bytes = span_of_string(text);
  return (struct credential_files){bytes, bytes, bytes, bytes};
}

static void assert_holds(const char *dir, const char *name, const char *text) {
  char path[PATH_BYTES], found[64] = "";
  struct stat status;
  snprintf(path, sizeof path, "%s/%s", dir, name);
  assert_int_equal(stat(path, &status), 0);
  assert_int_equal(status.st_mode & 0777, 0600);
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  assert_true(fread(found, 1, sizeof found - 1, file) > 0);
  fclose(file);
  assert_string_equal(found, text);
}

static unsigned count_generations(const char *path) {
  unsigned count = 0;
  DIR *dir = opendir(path);
  for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
    if (strncmp(entry->d_name, "identity.", 9) == 0) count++;
  closedir(dir);
  return count;
}

static void an_identity_is_replaced_as_a_whole(void **state) {
  const char *dir = *state, *names[] = {"board.key", "board.pem", "ca.pem", "collector"};
  char state_dir[PATH_BYTES];
  snprintf(state_dir, sizeof state_dir, "%s/deep/er", dir);
  assert_int_equal(credential_files_prepare(state_dir), 0);
  struct stat status;
  assert_int_equal(stat(state_dir, &status), 0);
  assert_int_equal(status.st_mode & 0777, 0700);
  const char *texts[] = {"first", "second", "third"};
  for (int round = 0; round < 3; round++) {
    struct credential_files files = files_of(texts[round]);
    assert_int_equal(credential_files_install(state_dir, &files), 0);
    for (int i = 0; i < 4; i++) assert_holds(state_dir, names[i], texts[round]);
    assert_int_equal(count_generations(state_dir), 1);
  }
}

static void what_an_interrupted_enrolment_left_is_swept(void **state) {
  const char *dir = *state;
  char path[PATH_BYTES];
  snprintf(path, sizeof path, "%s/identity.broken", dir);
  assert_int_equal(mkdir(path, 0700), 0);
  snprintf(path, sizeof path, "%s/.identity.new", dir);
  assert_int_equal(symlink("nowhere", path), 0);
  struct credential_files files = files_of("whole");
  assert_int_equal(credential_files_install(dir, &files), 0);
  assert_holds(dir, "board.pem", "whole");
  assert_int_equal(count_generations(dir), 1);
}

static void plain_files_of_an_older_way_are_replaced(void **state) {
  const char *dir = *state;
  char path[PATH_BYTES];
  snprintf(path, sizeof path, "%s/board.pem", dir);
  FILE *file = fopen(path, "w");
  fputs("old", file);
  fclose(file);
  struct credential_files files = files_of("new");
  assert_int_equal(credential_files_install(dir, &files), 0);
  assert_holds(dir, "board.pem", "new");
}

static void a_directory_that_is_none_is_an_error(void **state) {
  char path[PATH_BYTES];
  snprintf(path, sizeof path, "%s/file", (const char *)*state);
  FILE *file = fopen(path, "w");
  fclose(file);
  struct credential_files files = files_of("x");
  assert_true(credential_files_install(path, &files) < 0);
  snprintf(path, sizeof path, "%s/file/below", (const char *)*state);
  assert_true(credential_files_prepare(path) < 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_token_gives_its_fingerprint),
      cmocka_unit_test(a_changed_or_cut_token_is_refused),
      cmocka_unit_test(only_the_right_answer_is_accepted),
      cmocka_unit_test(a_request_proves_the_key),
      CASE(an_identity_is_replaced_as_a_whole),
      CASE(what_an_interrupted_enrolment_left_is_swept),
      CASE(plain_files_of_an_older_way_are_replaced),
      CASE(a_directory_that_is_none_is_an_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
