/* SPDX-License-Identifier: Apache-2.0 */
/* Real handshakes between two contexts over memory, with certificates made here.
   --wrap=clock_walltime_ns replaces the wall clock of common/, --wrap=clock_is_kept whether it is
   synchronized. OpenSSL uses the real clock. */
#include "common/clock.h"
#include "common/tls.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <cmocka.h>

enum { DAY = 86400, YEAR = 365 * DAY, TEXT = 256 };

static uint64_t wall_ns;
uint64_t __real_clock_walltime_ns(void);
uint64_t __wrap_clock_walltime_ns(void);
uint64_t __wrap_clock_walltime_ns(void) {
  return wall_ns ? wall_ns : __real_clock_walltime_ns();
}

static bool is_unkept;
static int64_t earliest_s; /* of the next client */
bool __wrap_clock_is_kept(void);
bool __wrap_clock_is_kept(void) {
  return !is_unkept;
}

struct pair {
  X509 *certificate;
  EVP_PKEY *key;
};

struct leaf {
  const char *name, *usage; /* extended key usage, or NULL for none */
  long from, until;         /* seconds from now */
};

static const struct leaf good_server = {"collector", "serverAuth", -DAY, YEAR};
static const struct leaf good_board = {"b1", "clientAuth", -DAY, YEAR};

static char folder[] = "/tmp/fleetprof-tls-XXXXXX";
static struct pair root, other_root;
static unsigned char root_digest[32];
static char error[TEXT], why_client[TEXT], why_server[TEXT], name_seen[TEXT];
static int name_result;

static void add_extension(X509 *certificate, X509 *issuer, int nid, const char *value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
  X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
  assert_non_null(extension);
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

static struct pair make(const struct leaf *leaf, const struct pair *issuer) {
  static long serial = 1;
  struct pair made = {X509_new(), EVP_EC_gen("P-256")};
  X509 *parent = issuer ? issuer->certificate : made.certificate;
  X509_set_version(made.certificate, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(made.certificate), serial++);
  X509_gmtime_adj(X509_getm_notBefore(made.certificate), leaf->from);
  X509_gmtime_adj(X509_getm_notAfter(made.certificate), leaf->until);
  X509_set_pubkey(made.certificate, made.key);
  X509_NAME *subject = X509_get_subject_name(made.certificate);
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, (const unsigned char *)leaf->name, -1,
                             -1, 0);
  X509_set_issuer_name(made.certificate, X509_get_subject_name(parent));
  add_extension(made.certificate, parent, NID_basic_constraints,
                issuer ? "critical,CA:FALSE" : "critical,CA:TRUE");
  if (issuer == NULL) add_extension(made.certificate, parent, NID_key_usage, "keyCertSign,cRLSign");
  if (leaf->usage) add_extension(made.certificate, parent, NID_ext_key_usage, leaf->usage);
  assert_true(X509_sign(made.certificate, issuer ? issuer->key : made.key, EVP_sha256()) > 0);
  return made;
}

static void fini(struct pair *pair) {
  X509_free(pair->certificate);
  EVP_PKEY_free(pair->key);
}

static const char *path_of(const char *name) {
  static char paths[16][TEXT];
  static unsigned next;
  char *path = paths[next++ % 16];
  snprintf(path, TEXT, "%s/%s", folder, name);
  return path;
}

static void write_pair(const char *name, const struct pair *pair, mode_t mode) {
  char file[64];
  snprintf(file, sizeof file, "%s.pem", name);
  FILE *out = fopen(path_of(file), "w");
  PEM_write_X509(out, pair->certificate);
  fclose(out);
  snprintf(file, sizeof file, "%s.key", name);
  out = fopen(path_of(file), "w");
  PEM_write_PrivateKey(out, pair->key, NULL, NULL, 0, NULL, NULL);
  fclose(out);
  assert_int_equal(chmod(path_of(file), mode), 0);
}

static struct tls_paths leaf_paths(const char *name, const struct leaf *leaf,
                                   const struct pair *issuer) {
  char certificate[64], key[64];
  struct pair made = make(leaf, issuer);
  write_pair(name, &made, 0600);
  fini(&made);
  snprintf(certificate, sizeof certificate, "%s.pem", name);
  snprintf(key, sizeof key, "%s.key", name);
  return (struct tls_paths){
      .certificate = path_of(certificate), .key = path_of(key), .ca = path_of("root.pem")};
}

static SSL_CTX *server_of(const struct leaf *leaf, const struct pair *issuer) {
  struct tls_paths paths = leaf_paths("server", leaf, issuer);
  SSL_CTX *context = tls_server_context(&paths, error, sizeof error);
  if (context == NULL) fail_msg("%s", error);
  return context;
}

static SSL_CTX *client_of(const struct leaf *leaf, const struct pair *issuer) {
  struct tls_paths paths = {.ca = path_of("root.pem")};
  if (leaf) paths = leaf_paths("client", leaf, issuer);
  paths.earliest_s = earliest_s;
  SSL_CTX *context = tls_client_context(&paths, error, sizeof error);
  if (context == NULL) fail_msg("%s", error);
  return context;
}

/* One step of a handshake; WHY gets the text of its first failure. */
static int step(SSL *ssl, char *why) {
  ERR_clear_error();
  errno = 0;
  int got = SSL_do_handshake(ssl);
  if (got != 1 && SSL_get_error(ssl, got) == SSL_ERROR_SSL && why[0] == '\0')
    tls_failure(ssl, why, TEXT);
  return got;
}

/* Runs both ends until neither makes progress. Returns whether both are done and a byte passes each
   way (with TLS 1.3 a client sees a rejection only then). */
static bool talk(SSL *client, SSL *server) {
  char byte = 'x';
  int client_ok = 0, server_ok = 0;
  for (int i = 0; i < 10; i++) {
    client_ok = step(client, why_client);
    server_ok = step(server, why_server);
  }
  if (server_ok == 1) name_result = tls_peer_name(server, name_seen, sizeof name_seen);
  bool is_through = server_ok == 1 && client_ok == 1 && SSL_write(client, &byte, 1) == 1 &&
                    SSL_read(server, &byte, 1) == 1 && SSL_write(server, &byte, 1) == 1 &&
                    SSL_read(client, &byte, 1) == 1;
  if (!is_through && client_ok == 1) {
    SSL_read(client, &byte, 1); /* takes in the alert */
    tls_failure(client, why_client, sizeof why_client);
  }
  return is_through;
}

/* Connects CLIENT to SERVER, then frees both. */
static bool connect_pair(SSL_CTX *client_context, SSL_CTX *server_context) {
  BIO *client_end, *server_end;
  why_client[0] = why_server[0] = name_seen[0] = '\0';
  SSL *client = SSL_new(client_context), *server = SSL_new(server_context);
  assert_int_equal(BIO_new_bio_pair(&client_end, 1 << 16, &server_end, 1 << 16), 1);
  SSL_set_bio(client, client_end, client_end);
  SSL_set_bio(server, server_end, server_end);
  SSL_set_connect_state(client);
  SSL_set_accept_state(server);
  bool is_through = talk(client, server);
  if (is_through) {
    const unsigned char *alpn;
    unsigned len;
    SSL_get0_alpn_selected(client, &alpn, &len);
    assert_int_equal(len, strlen(TLS_ALPN));
    assert_memory_equal(alpn, TLS_ALPN, len);
  }
  SSL_free(client);
  SSL_free(server);
  SSL_CTX_free(client_context);
  SSL_CTX_free(server_context);
  return is_through;
}

static int set_up(void **state) {
  (void)state;
  const struct leaf authority = {"fleet", NULL, -20 * YEAR, 20 * YEAR};
  unsigned len = 0;
  assert_non_null(mkdtemp(folder));
  root = make(&authority, NULL);
  other_root = make(&authority, NULL); /* the same name, another key */
  write_pair("root", &root, 0600);
  write_pair("other", &other_root, 0600);
  X509_digest(root.certificate, EVP_sha256(), root_digest, &len);
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  static const char *const names[] = {
      "root.pem",   "root.key",        "other.pem",      "other.key", "server.pem",
      "server.key", "client.pem",      "client.key",     "next.pem",  "next.key",
      "both.pem",   "server-next.pem", "server-next.key"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) unlink(path_of(names[i]));
  rmdir(folder);
  fini(&root);
  fini(&other_root);
  return 0;
}

static int reset_clock(void **state) {
  (void)state;
  wall_ns = 0;
  is_unkept = false;
  earliest_s = 0;
  return 0;
}

static void a_board_and_its_collector_meet(void **state) {
  (void)state;
  assert_true(connect_pair(client_of(&good_board, &root), server_of(&good_server, &root)));
  assert_int_equal(name_result, 0);
  assert_string_equal(name_seen, "b1");
}

/* A server under `root` and, for clients that trust it, under NEXT. */
static SSL_CTX *server_of_two(struct pair *next) {
  const struct leaf second = {"second", "serverAuth", -DAY, YEAR};
  struct tls_paths paths = leaf_paths("server", &good_server, &root);
  write_pair("next", next, 0600);
  struct tls_paths more = leaf_paths("server-next", &second, next);
  paths.next_certificate = more.certificate, paths.next_key = more.key;
  paths.next_ca = path_of("next.pem");
  SSL_CTX *context = tls_server_context(&paths, error, sizeof error);
  if (context == NULL) fail_msg("%s", error);
  return context;
}

/* Connects a board with a certificate under ISSUER and the CA file KNOWN; stores the server's name.
 */
static bool meet(const struct pair *issuer, const char *known, SSL_CTX *server, char *ret_name) {
  struct tls_paths paths = leaf_paths("client", &good_board, issuer);
  BIO *client_end, *server_end;
  paths.ca = path_of(known);
  SSL_CTX *context = tls_client_context(&paths, error, sizeof error);
  if (context == NULL) fail_msg("%s", error);
  why_client[0] = why_server[0] = ret_name[0] = '\0';
  SSL *client = SSL_new(context), *far = SSL_new(server);
  assert_int_equal(BIO_new_bio_pair(&client_end, 1 << 16, &server_end, 1 << 16), 1);
  SSL_set_bio(client, client_end, client_end);
  SSL_set_bio(far, server_end, server_end);
  SSL_set_connect_state(client);
  SSL_set_accept_state(far);
  bool is_through = talk(client, far);
  X509 *shown = SSL_get0_peer_certificate(client);
  if (shown != NULL)
    X509_NAME_get_text_by_NID(X509_get_subject_name(shown), NID_commonName, ret_name, TEXT);
  SSL_free(client);
  SSL_free(far);
  SSL_CTX_free(context);
  return is_through;
}

static void write_both(const struct pair *next) {
  FILE *out = fopen(path_of("both.pem"), "w");
  PEM_write_X509(out, root.certificate);
  PEM_write_X509(out, next->certificate);
  fclose(out);
}

static void a_server_of_two_roots_shows_each_board_what_it_can_verify(void **state) {
  (void)state;
  const struct leaf authority = {"the next", NULL, -DAY, 20 * YEAR};
  struct pair next = make(&authority, NULL);
  SSL_CTX *server = server_of_two(&next);
  char shown[TEXT];
  write_both(&next);
  assert_true(meet(&root, "root.pem", server, shown));
  assert_string_equal(shown, "collector");
  assert_true(meet(&root, "both.pem", server, shown));
  assert_string_equal(shown, "second");
  assert_true(meet(&next, "both.pem", server, shown));
  assert_string_equal(shown, "second");
  assert_true(meet(&next, "next.pem", server, shown));
  assert_string_equal(shown, "second");
  SSL_CTX_free(server);
  server = server_of(&good_server, &root);
  assert_false(meet(&next, "both.pem", server, shown)); /* before it has the second */
  SSL_CTX_free(server);
  fini(&next);
}

static void two_roots_of_one_name_are_met_by_the_first(void **state) {
  (void)state;
  SSL_CTX *server = server_of_two(&other_root);
  char shown[TEXT];
  write_both(&other_root);
  assert_true(meet(&root, "root.pem", server, shown));
  assert_string_equal(shown, "collector");
  assert_true(meet(&root, "both.pem", server, shown));
  assert_string_equal(shown, "collector");
  SSL_CTX_free(server);
}

static void tls_1_2_is_the_floor(void **state) {
  (void)state;
  SSL_CTX *client = client_of(&good_board, &root);
  assert_int_equal(SSL_CTX_get_min_proto_version(client), TLS1_2_VERSION);
  SSL_CTX_set_max_proto_version(client, TLS1_2_VERSION);
  assert_true(connect_pair(client, server_of(&good_server, &root)));
  client = client_of(&good_board, &root);
  SSL_CTX_set_min_proto_version(client, TLS1_1_VERSION);
  SSL_CTX_set_max_proto_version(client, TLS1_1_VERSION);
  assert_false(connect_pair(client, server_of(&good_server, &root)));
}

static void a_client_without_certificate_has_no_name(void **state) {
  (void)state;
  assert_true(connect_pair(client_of(NULL, NULL), server_of(&good_server, &root)));
  assert_int_equal(name_result, -ENOENT);
}

static void a_strangers_certificate_is_refused_on_both_ends(void **state) {
  (void)state;
  assert_false(connect_pair(client_of(&good_board, &other_root), server_of(&good_server, &root)));
  assert_non_null(strstr(why_server, "unknown CA"));
  assert_non_null(strstr(why_client, "the peer says: "));
  assert_false(connect_pair(client_of(&good_board, &root), server_of(&good_server, &other_root)));
  assert_non_null(strstr(why_client, "unknown CA"));
  assert_non_null(strstr(why_server, "the peer says: "));
}

static void an_expired_certificate_is_called_expired_on_both_ends(void **state) {
  (void)state;
  const struct leaf old_board = {"b1", "clientAuth", -2 * DAY, -DAY};
  const struct leaf old_server = {"collector", "serverAuth", -2 * DAY, -DAY};
  assert_false(connect_pair(client_of(&old_board, &root), server_of(&good_server, &root)));
  assert_string_equal(why_server, "the peer's certificate: certificate has expired");
  assert_string_equal(why_client, "the peer says: certificate has expired");
  assert_false(connect_pair(client_of(&good_board, &root), server_of(&old_server, &root)));
  assert_string_equal(why_client, "the peer's certificate: certificate has expired");
  assert_string_equal(why_server, "the peer says: certificate has expired");
}

static void each_end_needs_its_own_kind_of_certificate(void **state) {
  (void)state;
  const struct leaf both = {"x", "serverAuth,clientAuth", -DAY, YEAR};
  const struct leaf none = {"x", NULL, -DAY, YEAR};
  assert_false(connect_pair(client_of(&good_server, &root), server_of(&good_server, &root)));
  assert_non_null(strstr(why_server, "wrong kind"));
  assert_false(connect_pair(client_of(&good_board, &root), server_of(&good_board, &root)));
  assert_non_null(strstr(why_client, "wrong kind"));
  assert_false(connect_pair(client_of(&none, &root), server_of(&good_server, &root)));
  assert_false(connect_pair(client_of(&good_board, &root), server_of(&none, &root)));
  assert_true(connect_pair(client_of(&both, &root), server_of(&both, &root)));
}

static void a_clock_in_1970_forgives_not_yet_valid_and_nothing_else(void **state) {
  (void)state;
  const struct leaf future = {"collector", "serverAuth", YEAR, 2 * YEAR};
  assert_false(connect_pair(client_of(&good_board, &root), server_of(&future, &root)));
  assert_non_null(strstr(why_client, "not yet valid"));
  wall_ns = 1000 * NS_PER_SECOND;
  assert_true(connect_pair(client_of(&good_board, &root), server_of(&future, &root)));
  const struct leaf old = {"collector", "serverAuth", -2 * DAY, -DAY};
  earliest_s = time(NULL); /* a session of today */
  assert_false(connect_pair(client_of(&good_board, &root), server_of(&old, &root)));
  assert_non_null(strstr(why_client, "expired"));
  assert_false(connect_pair(client_of(&good_board, &root), server_of(&future, &other_root)));
  assert_non_null(strstr(why_client, "unknown CA"));
}

/* A client whose OpenSSL also has the date 1970. */
static SSL_CTX *board_in_1970(void) {
  SSL_CTX *client = client_of(&good_board, &root);
  X509_VERIFY_PARAM_set_time(SSL_CTX_get0_param(client), 1000);
  return client;
}

static void a_clock_in_1970_knows_what_expired_before_this_program(void **state) {
  (void)state;
  long until_2023 = 1700000000 - (long)time(NULL);
  const struct leaf ancient = {"collector", "serverAuth", until_2023 - YEAR, until_2023};
  wall_ns = 1000 * NS_PER_SECOND;
  assert_false(connect_pair(board_in_1970(), server_of(&ancient, &root)));
  assert_string_equal(why_client, "the peer's certificate: certificate has expired");
  assert_true(connect_pair(board_in_1970(), server_of(&good_server, &root)));
}

/* A client whose clock is YEARS ahead. */
static SSL_CTX *board_ahead_by(int years) {
  SSL_CTX *client = client_of(&good_board, &root);
  wall_ns = ((uint64_t)time(NULL) + (uint64_t)years * YEAR) * NS_PER_SECOND;
  X509_VERIFY_PARAM_set_time(SSL_CTX_get0_param(client), time(NULL) + (time_t)years * YEAR);
  return client;
}

static void a_clock_that_nothing_keeps_expires_nothing_but_what_is_certain(void **state) {
  (void)state;
  assert_false(connect_pair(board_ahead_by(10), server_of(&good_server, &root)));
  assert_non_null(strstr(why_client, "expired"));
  is_unkept = true;
  assert_true(connect_pair(board_ahead_by(10), server_of(&good_server, &root)));
  earliest_s = time(NULL) + DAY;
  assert_true(connect_pair(board_ahead_by(10), server_of(&good_server, &root)));
  earliest_s = time(NULL) + 2 * (int64_t)YEAR; /* behind its end */
  assert_false(connect_pair(board_ahead_by(10), server_of(&good_server, &root)));
  assert_string_equal(why_client, "the peer's certificate: certificate has expired");
  earliest_s = 0;
  assert_false(connect_pair(board_ahead_by(10), server_of(&good_server, &other_root)));
  assert_non_null(strstr(why_client, "unknown CA"));
}

static void a_kept_clock_behind_what_is_certain_does_not_count(void **state) {
  (void)state;
  const struct leaf old = {"collector", "serverAuth", -2 * YEAR, -YEAR};
  earliest_s = time(NULL);
  SSL_CTX *client = board_ahead_by(0);
  wall_ns -= (uint64_t)YEAR * NS_PER_SECOND;
  X509_VERIFY_PARAM_set_time(SSL_CTX_get0_param(client), time(NULL) - (time_t)YEAR - DAY);
  assert_false(connect_pair(client, server_of(&old, &root)));
  assert_string_equal(why_client, "the peer's certificate: certificate has expired");
}

static void the_servers_clock_is_believed(void **state) {
  (void)state;
  const struct leaf future = {"b1", "clientAuth", YEAR, 2 * YEAR};
  wall_ns = 1000 * NS_PER_SECOND;
  assert_false(connect_pair(client_of(&future, &root), server_of(&good_server, &root)));
  assert_non_null(strstr(why_server, "not yet valid"));
}

static void enrolment_trusts_exactly_the_pinned_root(void **state) {
  (void)state;
  SSL_CTX *client = tls_enrol_context(root_digest, error, sizeof error);
  assert_non_null(client);
  assert_true(connect_pair(client, server_of(&good_server, &root)));
  assert_int_equal(name_result, -ENOENT);
  unsigned char other[32];
  memcpy(other, root_digest, sizeof other);
  other[31] ^= 1;
  client = tls_enrol_context(other, error, sizeof error);
  assert_false(connect_pair(client, server_of(&good_server, &root)));
  assert_non_null(strstr(why_client, "the token names another root certificate"));
}

static void enrolment_still_judges_the_certificate(void **state) {
  (void)state;
  const struct leaf old = {"collector", "serverAuth", -2 * DAY, -DAY};
  SSL_CTX *client = tls_enrol_context(root_digest, error, sizeof error);
  assert_false(connect_pair(client, server_of(&old, &root)));
  assert_non_null(strstr(why_client, "expired"));
  client = tls_enrol_context(root_digest, error, sizeof error);
  assert_false(connect_pair(client, server_of(&good_board, &root)));
  assert_non_null(strstr(why_client, "wrong kind"));
}

static void another_protocol_is_refused(void **state) {
  (void)state;
  SSL_CTX *client = client_of(&good_board, &root);
  SSL_CTX_set_alpn_protos(client, (const unsigned char *)"\x08http/1.1", 9);
  assert_false(connect_pair(client, server_of(&good_server, &root)));
  assert_non_null(strstr(why_client, "no common protocol"));
  client = client_of(&good_board, &root);
  SSL_CTX_set_alpn_protos(client, NULL, 0);
  assert_false(connect_pair(client, server_of(&good_server, &root)));
  assert_non_null(strstr(why_client, "no common protocol"));
}

static void a_peer_that_goes_in_the_handshake_is_called_gone(void **state) {
  (void)state;
  BIO *client_end, *server_end;
  SSL_CTX *context = client_of(&good_board, &root);
  SSL *client = SSL_new(context);
  why_client[0] = '\0';
  assert_int_equal(BIO_new_bio_pair(&client_end, 1 << 16, &server_end, 1 << 16), 1);
  SSL_set_bio(client, client_end, client_end);
  SSL_set_connect_state(client);
  assert_int_equal(step(client, why_client), -1); /* waits for the server's hello */
  assert_int_equal(BIO_shutdown_wr(server_end), 1);
  step(client, why_client);
  assert_string_equal(why_client, "the peer closed the connection");
  BIO_free(server_end);
  SSL_free(client);
  SSL_CTX_free(context);
}

static void a_name_that_could_do_harm_is_no_name(void **state) {
  (void)state;
  static const char *const bad[] = {"a/b", "..", ".x", "a\nb", "a\x7f", "\xc2\x80"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    const struct leaf leaf = {bad[i], "clientAuth", -DAY, YEAR};
    assert_true(connect_pair(client_of(&leaf, &root), server_of(&good_server, &root)));
    assert_int_equal(name_result, -EBADMSG);
  }
  const struct leaf fine = {"gr\xc3\xbc\xc3\x9f-1.x", "clientAuth", -DAY, YEAR};
  assert_true(connect_pair(client_of(&fine, &root), server_of(&good_server, &root)));
  assert_string_equal(name_seen, "gr\xc3\xbc\xc3\x9f-1.x");
}

static void files_that_do_not_serve_are_named(void **state) {
  (void)state;
  char wanted[TEXT * 2];
  struct tls_paths paths = leaf_paths("server", &good_server, &root);
  paths.ca = "/nowhere/ca.pem";
  assert_null(tls_client_context(&paths, error, sizeof error));
  assert_string_equal(error, "CA /nowhere/ca.pem: No such file or directory");
  paths = leaf_paths("server", &good_server, &root);
  chmod(paths.key, 0640);
  assert_null(tls_server_context(&paths, error, sizeof error));
  snprintf(wanted, sizeof wanted, "key %s: mode 0640 lets others use it; chmod 600 it", paths.key);
  assert_string_equal(error, wanted);
  paths.key = path_of("other.key");
  assert_null(tls_server_context(&paths, error, sizeof error));
  assert_non_null(strstr(error, "key values mismatch"));
  paths.certificate = path_of("root.key");
  assert_null(tls_client_context(&paths, error, sizeof error));
  assert_non_null(strstr(error, "certificate "));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_board_and_its_collector_meet),
      cmocka_unit_test(a_server_of_two_roots_shows_each_board_what_it_can_verify),
      cmocka_unit_test(two_roots_of_one_name_are_met_by_the_first),
      cmocka_unit_test(tls_1_2_is_the_floor),
      cmocka_unit_test(a_client_without_certificate_has_no_name),
      cmocka_unit_test(a_strangers_certificate_is_refused_on_both_ends),
      cmocka_unit_test(an_expired_certificate_is_called_expired_on_both_ends),
      cmocka_unit_test(each_end_needs_its_own_kind_of_certificate),
      cmocka_unit_test_teardown(a_clock_in_1970_forgives_not_yet_valid_and_nothing_else,
                                reset_clock),
      cmocka_unit_test_teardown(a_clock_in_1970_knows_what_expired_before_this_program,
                                reset_clock),
      cmocka_unit_test_teardown(a_clock_that_nothing_keeps_expires_nothing_but_what_is_certain,
                                reset_clock),
      cmocka_unit_test_teardown(a_kept_clock_behind_what_is_certain_does_not_count, reset_clock),
      cmocka_unit_test_teardown(the_servers_clock_is_believed, reset_clock),
      cmocka_unit_test(enrolment_trusts_exactly_the_pinned_root),
      cmocka_unit_test(enrolment_still_judges_the_certificate),
      cmocka_unit_test(another_protocol_is_refused),
      cmocka_unit_test(a_peer_that_goes_in_the_handshake_is_called_gone),
      cmocka_unit_test(a_name_that_could_do_harm_is_no_name),
      cmocka_unit_test(files_that_do_not_serve_are_named),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
