/* SPDX-License-Identifier: Apache-2.0 */
/* The certificate authority: the certificates that it makes and signs, and reopening it from disk.
 */
#include "identity/ca.h"

#include "common/buf.h"
#include "common/clock.h"
#include "identity/authority.h"
#include "identity/ca_files.h"
#include "identity/certificate.h"
#include "request_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/pem.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char dir[64], error[256], why[256];
static struct request request;

static const char *host_name; /* NULL: the machine's */

int __real_gethostname(char *name, size_t size);
int __wrap_gethostname(char *name, size_t size);

int __wrap_gethostname(char *name, size_t size) {
  if (host_name == NULL) return __real_gethostname(name, size);
  snprintf(name, size, "%s", host_name);
  return 0;
}

static uint64_t judged_ahead_ns;

uint64_t __wrap_clock_judged_ns(void);

uint64_t __wrap_clock_judged_ns(void) {
  return clock_walltime_ns() + judged_ahead_ns;
}

static int make_dir(void **state) {
  (void)state;
  snprintf(dir, sizeof dir, "/tmp/fleetprof-ca-XXXXXX");
  return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state) {
  static const char *const names[] = {
      "ca/lock", "ca/root.key", "ca/root.pem", "ca/server.key", "ca/server.pem", "ca", ""};
  (void)state;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", dir, names[i]);
    remove(path);
  }
  return 0;
}

static struct ca *open_ca(void) {
  struct ca *ca = NULL;
  int result = ca_open(dir, &ca, error, sizeof error);
  if (result != 0) fail_msg("%s", error);
  return ca;
}

static const char *path_of(const char *name) {
  static char path[128];
  snprintf(path, sizeof path, "%s/ca/%s", dir, name);
  return path;
}

static X509 *sign_board(struct ca *ca, const char *name) {
  EVP_PKEY *key = EVP_EC_gen("P-256");
  struct buf pem = {0};
  request_make(key, key, &request);
  const struct ca_request asked = {.csr = request_span(&request), .board = name};
  assert_int_equal(ca_sign(ca, &asked, &pem, why, sizeof why), 0);
  BIO *memory = BIO_new_mem_buf(pem.data, (int)pem.len);
  X509 *certificate = PEM_read_bio_X509(memory, NULL, NULL, NULL);
  assert_non_null(certificate);
  assert_int_equal(EVP_PKEY_eq(X509_get0_pubkey(certificate), key), 1);
  BIO_free(memory);
  buf_fini(&pem);
  EVP_PKEY_free(key);
  return certificate;
}

static void assert_extension(X509 *certificate, int nid, const char *text) {
  int at = X509_get_ext_by_NID(certificate, nid, -1);
  assert_true(at >= 0);
  BIO *memory = BIO_new(BIO_s_mem());
  X509V3_EXT_print(memory, X509_get_ext(certificate, at), 0, 0);
  char printed[512] = "";
  BIO_read(memory, printed, sizeof printed - 1);
  BIO_free(memory);
  assert_string_equal(printed, text);
}

static int days_left(X509 *certificate) {
  int days, seconds;
  assert_int_equal(ASN1_TIME_diff(&days, &seconds, NULL, X509_get0_notAfter(certificate)), 1);
  return days;
}

static void a_fresh_directory_gets_a_root_and_a_server_certificate(void **state) {
  (void)state;
  struct ca *ca = open_ca();
  X509 *root = ca_files_read_certificate(ca_root_path(ca));
  X509 *server = ca_files_read_certificate(ca_server_certificate_path(ca));
  assert_non_null(root);
  assert_non_null(server);
  assert_extension(root, NID_basic_constraints, "CA:TRUE, pathlen:0");
  assert_extension(server, NID_ext_key_usage, "TLS Web Server Authentication");
  assert_extension(server, NID_basic_constraints, "CA:FALSE");
  assert_int_equal(X509_check_ip_asc(server, "127.0.0.1", 0), 1);
  assert_int_equal(X509_check_ip_asc(server, "::1", 0), 1);
  assert_int_equal(X509_check_host(server, "localhost", 0, 0, NULL), 1);
  assert_int_equal(X509_verify(server, X509_get0_pubkey(root)), 1);
  assert_in_range(days_left(root), 3650, 3653);
  X509_free(server);
  X509_free(root);
  ca_close(ca);
}

static void keys_are_for_the_owner_only(void **state) {
  (void)state;
  mode_t kept = umask(0);
  ca_close(open_ca());
  umask(kept);
  struct stat status;
  assert_int_equal(stat(path_of("root.key"), &status), 0);
  assert_int_equal(status.st_mode & 07777, 0600);
  assert_int_equal(stat(path_of("server.key"), &status), 0);
  assert_int_equal(status.st_mode & 07777, 0600);
}

static void a_second_start_finds_the_same_root(void **state) {
  (void)state;
  uint8_t first[32], second[32];
  struct ca *ca = open_ca();
  ca_fingerprint(ca, first);
  ca_close(ca);
  ca = open_ca();
  ca_fingerprint(ca, second);
  ca_close(ca);
  assert_memory_equal(first, second, sizeof first);
}

static void openers_that_race_agree_on_one_root(void **state) {
  (void)state;
  enum { OPENERS = 4 };
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  for (int i = 0; i < OPENERS; i++) {
    if (fork() != 0) continue;
    uint8_t fingerprint[32] = {0};
    struct ca *ca = NULL;
    if (ca_open(dir, &ca, error, sizeof error) == 0) ca_fingerprint(ca, fingerprint);
    _exit(write(ends[1], fingerprint, sizeof fingerprint) == sizeof fingerprint ? 0 : 1);
  }
  uint8_t prints[OPENERS][32];
  for (int i = 0; i < OPENERS; i++) {
    assert_int_equal(read(ends[0], prints[i], sizeof prints[i]), sizeof prints[i]);
    assert_memory_equal(prints[0], prints[i], sizeof prints[i]);
  }
  for (int i = 0; i < OPENERS; i++) wait(NULL);
  close(ends[0]);
  close(ends[1]);
}

static void a_board_gets_our_name_and_rights_whatever_it_asks_for(void **state) {
  (void)state;
  struct ca *ca = open_ca();
  X509 *certificate = sign_board(ca, "edge-7");
  char name[128] = "";
  X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, name, sizeof name);
  assert_string_equal(name, "edge-7");
  assert_extension(certificate, NID_basic_constraints, "CA:FALSE");
  assert_extension(certificate, NID_ext_key_usage, "TLS Web Client Authentication");
  assert_extension(certificate, NID_subject_alt_name, "URI:spiffe://fleetprof/board/edge-7");
  assert_extension(certificate, NID_key_usage, "Digital Signature");
  assert_in_range(days_left(certificate), 29, 30);
  assert_true(X509_cmp_current_time(X509_get0_notBefore(certificate)) < 0);
  X509_free(certificate);
  ca_close(ca);
}

static void serials_are_random_and_names_may_be_long(void **state) {
  (void)state;
  char name[129];
  memset(name, 'n', 128);
  name[128] = 0;
  struct ca *ca = open_ca();
  X509 *a = sign_board(ca, name), *b = sign_board(ca, name);
  assert_int_not_equal(ASN1_INTEGER_cmp(X509_get0_serialNumber(a), X509_get0_serialNumber(b)), 0);
  assert_true(ASN1_STRING_length(X509_get0_serialNumber(a)) >= 12);
  X509_free(a);
  X509_free(b);
  ca_close(ca);
}

static void a_name_that_no_board_may_have_is_not_signed(void **state) {
  static const char *const names[] = {"", "-a", "a b", "a,URI:x", "../x", "\xc3\xa9", "a\n"};
  (void)state;
  struct ca *ca = open_ca();
  struct buf pem = {0};
  EVP_PKEY *key = EVP_EC_gen("P-256");
  request_make(key, key, &request);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const struct ca_request asked = {.csr = request_span(&request), .board = names[i]};
    assert_int_equal(ca_sign(ca, &asked, &pem, why, sizeof why), -EBADMSG);
  }
  assert_int_equal(pem.len, 0);
  EVP_PKEY_free(key);
  ca_close(ca);
}

static void a_certificate_is_as_old_as_its_signature_whatever_its_life(void **state) {
  static const long lives[] = {6, 3600, 24 * 3600, 30 * 24 * 3600, 31 * 24 * 3600, 365 * 24 * 3600};
  (void)state;
  for (unsigned i = 0; i < sizeof lives / sizeof *lives; i++) {
    struct certificate_terms terms = {
        .use = CERTIFICATE_ROOT, .name = "edge-1", .seconds = lives[i]};
    EVP_PKEY *key = certificate_key_make();
    int64_t now_s = time(NULL);
    X509 *certificate = certificate_make(&terms, key, NULL, key);
    assert_in_range(certificate_signed_s(certificate), now_s, now_s + 2);
    X509_free(certificate);
    EVP_PKEY_free(key);
  }
}

/* Puts a server certificate into the folder that ends in so many days and seconds. */
static void write_server(int days, long seconds) {
  X509 *root = ca_files_read_certificate(path_of("root.pem"));
  EVP_PKEY *root_key = ca_files_read_key(path_of("root.key"));
  EVP_PKEY *key = ca_files_read_key(path_of("server.key"));
  char host[65] = "", names[96];
  gethostname(host, sizeof host - 1);
  snprintf(names, sizeof names, "DNS:%s,DNS:localhost", host);
  struct certificate_terms terms = {.use = CERTIFICATE_SERVER,
                                    .name = host,
                                    .alt_names = names,
                                    .days = days,
                                    .seconds = seconds};
  X509 *server = certificate_make(&terms, key, root, root_key);
  assert_int_equal(ca_files_write_chain(path_of("server.pem"), server, root), 0);
  X509_free(server);
  X509_free(root);
  EVP_PKEY_free(key);
  EVP_PKEY_free(root_key);
}

static int server_days_left(void) {
  X509 *server = ca_files_read_certificate(path_of("server.pem"));
  int days = days_left(server);
  X509_free(server);
  return days;
}

static void a_server_certificate_near_its_end_is_renewed_and_the_root_kept(void **state) {
  (void)state;
  struct ca *ca = open_ca();
  uint8_t before[32], after[32];
  ca_fingerprint(ca, before);
  write_server(20, 0);
  ca_close(ca);
  ca = open_ca();
  assert_true(server_days_left() > 365);
  ca_fingerprint(ca, after);
  assert_memory_equal(before, after, sizeof before);
  ca_close(ca);
}

static bool is_named(const char *name) {
  X509 *server = ca_files_read_certificate(path_of("server.pem"));
  bool is_it =
      X509_check_host(server, name, 0, 0, NULL) == 1 || X509_check_ip_asc(server, name, 0) == 1;
  X509_free(server);
  return is_it;
}

static void a_server_certificate_names_what_it_is_told_and_keeps_the_root(void **state) {
  (void)state;
  char names[AUTHORITY_NAMES_BYTES] = "", host[65] = "";
  uint8_t before[32], after[32];
  gethostname(host, sizeof host - 1);
  assert_int_equal(authority_add_name("press.example.org", names), 0);
  assert_int_equal(authority_add_name("10.1.2.3", names), 0);
  assert_int_equal(authority_add_name("fd00:0::1", names), 0);
  assert_int_equal(authority_add_name("PRESS.example.org", names), 0); /* is there */
  assert_string_equal(names, "DNS:press.example.org,IP:10.1.2.3,IP:fd00::1");
  static const char *const bad[] = {"",   "a,DNS:b",       "a b", "-a",
                                    ".a", "10.1.2.3:7480", "*.a", "a/b"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    assert_int_equal(authority_add_name(bad[i], names), -EINVAL);
  struct ca *ca = open_ca();
  ca_fingerprint(ca, before);
  assert_false(is_named("press.example.org"));
  assert_int_equal(ca_set_names(ca, names, error, sizeof error), 0);
  assert_true(is_named("press.example.org") && is_named("10.1.2.3") && is_named("fd00::1"));
  assert_true(is_named(host) && is_named("localhost") && is_named("127.0.0.1") && is_named("::1"));
  struct stat first, second;
  assert_int_equal(stat(path_of("server.pem"), &first), 0);
  assert_int_equal(ca_set_names(ca, names, error, sizeof error), 0); /* it has them: it stays */
  assert_int_equal(stat(path_of("server.pem"), &second), 0);
  assert_true(first.st_ino == second.st_ino);
  ca_close(ca);
  write_server(20, 0); /* a command without a configured name renews this certificate */
  ca = open_ca();
  assert_false(is_named("10.1.2.3"));
  assert_int_equal(ca_set_names(ca, names, error, sizeof error), 0);
  ca_close(ca);
  ca = open_ca();
  assert_true(is_named("10.1.2.3")); /* and none that has them loses them so */
  assert_int_equal(ca_set_names(ca, "", error, sizeof error), 0);
  assert_false(is_named("press.example.org") || is_named("10.1.2.3"));
  ca_fingerprint(ca, after);
  assert_memory_equal(before, after, sizeof before);
  ca_close(ca);
}

static void a_server_certificate_stays_whatever_the_machine_is_called(void **state) {
  static const char *const hosts[] = {"build_box", "_box", "-box", ".box", "a,DNS:b", ""};
  (void)state;
  for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
    struct stat first, second;
    host_name = hosts[i];
    for (unsigned start = 0; start < 2; start++) {
      struct ca *ca = open_ca();
      assert_int_equal(ca_set_names(ca, "DNS:press_one,IP:10.1.2.3", error, sizeof error), 0);
      ca_close(ca);
      assert_int_equal(stat(path_of("server.pem"), start == 0 ? &first : &second), 0);
    }
    assert_true(first.st_ino == second.st_ino);
    assert_true(is_named(strchr(hosts[i], '_') != NULL ? hosts[i] : "localhost"));
    assert_true(is_named("press_one"));
  }
  host_name = NULL;
}

static void a_server_certificate_is_renewed_under_who_serves_it(void **state) {
  (void)state;
  ca_close(open_ca());
  write_server(365, 8);
  struct ca *ca = open_ca();
  uint64_t generation = ca_generation(ca);
  assert_true(server_days_left() <= 365); /* it is valid for some more seconds */
  for (unsigned i = 0; i < 30 && ca_generation(ca) == generation; i++) {
    sleep(1);
    assert_int_equal(ca_refresh(ca, error, sizeof error), 0);
  }
  assert_int_equal(ca_generation(ca), generation + 1);
  assert_true(server_days_left() > 700);
  assert_int_equal(ca_refresh(ca, error, sizeof error), 0);
  assert_int_equal(ca_generation(ca), generation + 1);
  ca_close(ca);
}

static void a_renewal_that_fails_is_not_tried_again_at_once(void **state) {
  (void)state;
  ca_close(open_ca());
  write_server(365, 8);
  struct ca *ca = open_ca();
  int result = 0;
  assert_int_equal(mkdir(path_of("server.key.new"), 0700), 0); /* where the new key would go */
  for (unsigned i = 0; i < 30 && result == 0; i++) {
    sleep(1);
    result = ca_refresh(ca, error, sizeof error);
  }
  assert_true(result < 0);
  assert_non_null(strstr(error, "server certificate"));
  assert_int_equal(ca_refresh(ca, error, sizeof error), 0);
  assert_true(server_days_left() <= 365); /* the existing certificate stays in use */
  assert_int_equal(rmdir(path_of("server.key.new")), 0);
  ca_close(ca);
}

static void a_root_without_its_key_stops_us_with_the_file_named(void **state) {
  (void)state;
  ca_close(open_ca());
  assert_int_equal(unlink(path_of("root.key")), 0);
  struct ca *ca = NULL;
  assert_int_equal(ca_open(dir, &ca, error, sizeof error), -EBADMSG);
  assert_non_null(strstr(error, "root.key"));
  assert_null(ca);
}

static void a_half_made_authority_is_made_anew(void **state) {
  (void)state;
  ca_close(open_ca());
  assert_int_equal(unlink(path_of("root.pem")), 0);
  assert_int_equal(unlink(path_of("server.key")), 0);
  struct ca *ca = open_ca();
  X509 *server = ca_files_read_certificate(ca_server_certificate_path(ca));
  X509 *root = ca_files_read_certificate(ca_root_path(ca));
  assert_int_equal(X509_verify(server, X509_get0_pubkey(root)), 1);
  X509_free(root);
  X509_free(server);
  ca_close(ca);
}

static void garbage_in_place_of_the_root_is_an_error_not_a_new_root(void **state) {
  (void)state;
  ca_close(open_ca());
  assert_int_equal(ca_files_write(path_of("root.pem"), span_of_string("no certificate"), 0644), 0);
  struct ca *ca = NULL;
  assert_int_equal(ca_open(dir, &ca, error, sizeof error), -EBADMSG);
  assert_non_null(strstr(error, "root.pem"));
}

/* Puts an external root for KEY where the collector looks for it, as an operator would. */
static void bring_root(EVP_PKEY *key) {
  struct certificate_terms terms = {.use = CERTIFICATE_ROOT, .name = "plant root", .days = 100};
  X509 *brought = certificate_make(&terms, key, NULL, key);
  assert_non_null(brought);
  assert_int_equal(mkdir(dir, 0700) == 0 || errno == EEXIST, 1);
  assert_int_equal(mkdir(path_of(""), 0700) == 0 || errno == EEXIST, 1);
  assert_int_equal(ca_files_write_key(path_of("root.key"), key), 0);
  assert_int_equal(ca_files_write_chain(path_of("root.pem"), brought, NULL), 0);
  X509_free(brought);
}

static void a_root_that_was_brought_signs_everything(void **state) {
  (void)state;
  EVP_PKEY *const keys[] = {EVP_EC_gen("P-384"), EVP_RSA_gen(2048)};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    bring_root(keys[i]);
    struct ca *ca = open_ca();
    X509 *root = ca_files_read_certificate(ca_root_path(ca));
    X509 *server = ca_files_read_certificate(ca_server_certificate_path(ca));
    X509 *board = sign_board(ca, "edge-1");
    assert_int_equal(EVP_PKEY_eq(X509_get0_pubkey(root), keys[i]), 1); /* it was not made again */
    assert_int_equal(X509_verify(server, keys[i]), 1);
    assert_int_equal(X509_verify(board, keys[i]), 1);
    X509_free(board);
    X509_free(server);
    X509_free(root);
    ca_close(ca);
    EVP_PKEY_free(keys[i]);
  }
}

static void a_certificate_is_dated_by_the_time_on_which_boards_agree(void **state) {
  (void)state;
  const int64_t year_s = 365 * 24 * 3600;
  struct ca *ca = open_ca();
  int64_t before_s = (int64_t)(clock_walltime_ns() / NS_PER_SECOND);
  judged_ahead_ns = (uint64_t)year_s * NS_PER_SECOND;
  X509 *certificate = sign_board(ca, "edge-1");
  judged_ahead_ns = 0;
  int64_t after_s = (int64_t)(clock_walltime_ns() / NS_PER_SECOND);
  assert_in_range(certificate_signed_s(certificate), before_s + year_s, after_s + year_s);
  X509_free(certificate);
  ca_close(ca);
}

int main(void) {
  const struct CMUnitTest tests[] = {
#define IN_DIR(test) cmocka_unit_test_setup_teardown(test, make_dir, remove_dir)
      IN_DIR(a_fresh_directory_gets_a_root_and_a_server_certificate),
      IN_DIR(keys_are_for_the_owner_only),
      IN_DIR(a_second_start_finds_the_same_root),
      IN_DIR(openers_that_race_agree_on_one_root),
      IN_DIR(a_board_gets_our_name_and_rights_whatever_it_asks_for),
      IN_DIR(serials_are_random_and_names_may_be_long),
      IN_DIR(a_name_that_no_board_may_have_is_not_signed),
      IN_DIR(a_server_certificate_near_its_end_is_renewed_and_the_root_kept),
      IN_DIR(a_server_certificate_names_what_it_is_told_and_keeps_the_root),
      IN_DIR(a_certificate_is_as_old_as_its_signature_whatever_its_life),
      IN_DIR(a_certificate_is_dated_by_the_time_on_which_boards_agree),
      IN_DIR(a_server_certificate_stays_whatever_the_machine_is_called),
      IN_DIR(a_server_certificate_is_renewed_under_who_serves_it),
      IN_DIR(a_renewal_that_fails_is_not_tried_again_at_once),
      IN_DIR(a_root_without_its_key_stops_us_with_the_file_named),
      IN_DIR(a_half_made_authority_is_made_anew),
      IN_DIR(a_root_that_was_brought_signs_everything),
      IN_DIR(garbage_in_place_of_the_root_is_an_error_not_a_new_root),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
