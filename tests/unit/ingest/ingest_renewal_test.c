/* SPDX-License-Identifier: Apache-2.0 */
/* Renewal on the boards' port, with real sockets and real TLS: the conditions for a new
   certificate, and the validity of the old one. */
#include "ingest/ingest.h"
#include "quota/quota.h"

#include "board_fixture.h"

#include <unistd.h>

static _Atomic uint64_t judged_ns; /* 0: the wall clock */

uint64_t __wrap_clock_judged_ns(void);

uint64_t __wrap_clock_judged_ns(void) {
  return judged_ns != 0 ? judged_ns : clock_walltime_ns();
}

static struct message hello_that_renews(uint64_t run) {
  struct message hello = hello_of(run);
  hello.hello.capabilities = CAPABILITY_RENEWAL;
  return hello;
}

/* Gives edge-1 a certificate for its own key that is valid from FROM until UNTIL, in seconds from
   now, signed by the collector's root. */
static void date_certificate(long from, long until) {
  char root_key_path[160];
  snprintf(root_key_path, sizeof root_key_path, "%s/ca/root.key", door.dir);
  EVP_PKEY *key = ca_files_read_key(path_of("edge-1", "key"));
  EVP_PKEY *root_key = ca_files_read_key(root_key_path);
  X509 *root = ca_files_read_certificate(ca_root_path(door.ca));
  struct certificate_terms terms = {.use = CERTIFICATE_BOARD, .name = "edge-1", .days = 1};
  X509 *dated = certificate_make(&terms, key, root, root_key);
  X509_gmtime_adj(X509_getm_notBefore(dated), from);
  X509_gmtime_adj(X509_getm_notAfter(dated), until);
  X509_sign(dated, root_key, EVP_sha256());
  assert_int_equal(ca_files_write_chain(path_of("edge-1", "crt"), dated, NULL), 0);
  X509_free(dated);
  X509_free(root);
  EVP_PKEY_free(root_key);
  EVP_PKEY_free(key);
}

/* Requests a certificate for KEY, or for a fresh key; returns the answer, which lives until the
   peer is closed. */
static struct renewed renew(struct peer *board, EVP_PKEY *key) {
  EVP_PKEY *fresh = key == NULL ? EVP_EC_gen("P-256") : NULL;
  request_make(key ? key : fresh, key ? key : fresh, &request);
  struct message message = {.type = FRAME_RENEW, .renew = {request_span(&request)}};
  assert_true(peer_say(board, &message));
  assert_true(peer_await(board, FRAME_RENEWED, &heard));
  if (fresh != NULL && heard.renewed.error[0] == 0)
    assert_int_equal(ca_files_write_key(path_of("edge-1", "key"), fresh), 0);
  EVP_PKEY_free(fresh);
  return heard.renewed;
}

static void keep(const struct renewed *renewed) {
  assert_int_equal(ca_files_write(path_of("edge-1", "crt"), renewed->certificate, 0644), 0);
}

/* Connects edge-1 with an expired certificate, and receives permission to renew. */
static void come_expired_as(struct peer *board) {
  struct message hello = hello_that_renews(11);
  connect_board(board, "edge-1");
  assert_true(peer_say(board, &hello));
  assert_true(peer_hear(board, &heard));
  assert_int_equal(heard.type, FRAME_WELCOME);
  assert_true(heard.welcome.renew_only);
}

static void come_expired(void) {
  come_expired_as(&peer);
}

static void a_board_renews_in_its_session_and_goes_on(void **state) {
  (void)state;
  enrol("edge-1");
  struct message hello = hello_that_renews(11);
  connect_board(&peer, "edge-1");
  assert_true(peer_say(&peer, &hello));
  assert_true(peer_hear(&peer, &heard));
  assert_int_equal(heard.welcome.trust, ca_trust(door.ca));
  assert_false(heard.welcome.renew_only);
  send_batch(&peer, 11, 1);
  assert_acked(&peer, 1);
  struct renewed renewed = renew(&peer, NULL);
  assert_string_equal(renewed.error, "");
  keep(&renewed);
  send_batch(&peer, 11, 2); /* the old one is valid until the new one is first used */
  assert_acked(&peer, 2);
  peer_close(&peer);
  greet(&peer, "edge-1", 11);
  assert_int_equal(heard.welcome.last_seq, 2); /* it is the same board */
  peer_close(&peer);
  assert_metric("renewed_total", 1);
}

static void a_board_that_renews_without_end_is_refused_and_keeps_its_session(void **state) {
  (void)state;
  enrol("edge-1");
  struct message hello = hello_that_renews(11);
  connect_board(&peer, "edge-1");
  assert_true(peer_say(&peer, &hello));
  assert_true(peer_hear(&peer, &heard));
  for (unsigned i = 0; i < QUOTA_RENEWALS_A_LIFE; i++)
    assert_string_equal(renew(&peer, NULL).error, "");
  for (unsigned i = 0; i < 3; i++)
    assert_non_null(strstr(renew(&peer, NULL).error, "within the life of one"));
  send_batch(&peer, 11, 1);
  assert_acked(&peer, 1);
  peer_close(&peer);
  assert_metric("renewed_total", QUOTA_RENEWALS_A_LIFE);
  assert_metric("refused_total{reason=\"renewals\"}", 3);
}

static void the_old_certificate_is_refused_once_the_new_one_was_used(void **state) {
  (void)state;
  struct message hello = hello_that_renews(11);
  enrol("edge-1");
  date_certificate(-2 * 86400, 1000); /* new certificates are backdated by a day */
  SSL_CTX *old = context_of("edge-1");
  SSL_CTX_up_ref(old);
  assert_int_equal(peer_connect(&peer, old, ingest_port(door.ingest)), 1);
  assert_true(peer_say(&peer, &hello));
  assert_true(peer_hear(&peer, &heard));
  struct renewed renewed = renew(&peer, NULL);
  assert_string_equal(renewed.error, "");
  keep(&renewed);
  peer_close(&peer);
  greet(&peer, "edge-1", 11);
  peer_close(&peer);
  assert_int_equal(peer_connect(&peer, old, ingest_port(door.ingest)), 1);
  assert_true(peer_say(&peer, &hello));
  assert_true(peer_hear(&peer, &heard));
  assert_int_equal(heard.type, FRAME_REJECT);
  assert_non_null(strstr(heard.reject.reason, "newer certificate"));
  assert_ends(&peer);
  assert_metric("refused_total{reason=\"superseded\"}", 1);
}

static void an_expired_board_may_renew_with_its_key_and_nothing_else(void **state) {
  (void)state;
  enrol("edge-1");
  date_certificate(-1000, -10);
  come_expired();
  send_batch(&peer, 11, 1);
  assert_true(peer_hear(&peer, &heard));
  assert_int_equal(heard.type, FRAME_REJECT);
  assert_ends(&peer);
  come_expired();
  EVP_PKEY *key = ca_files_read_key(path_of("edge-1", "key"));
  struct renewed renewed = renew(&peer, key);
  assert_string_equal(renewed.error, "");
  keep(&renewed);
  assert_ends(&peer);
  greet(&peer, "edge-1", 11);
  assert_int_equal(heard.welcome.last_seq, 0); /* batches sent while expired were not stored */
  send_batch(&peer, 11, 1);
  assert_acked(&peer, 1);
  peer_close(&peer);
  EVP_PKEY_free(key);
}

static void a_certificate_has_expired_by_the_time_on_which_boards_agree(void **state) {
  (void)state;
  enrol("edge-1");
  date_certificate(-1000, 1000);
  greet(&peer, "edge-1", 11);
  judged_ns = clock_walltime_ns() + 2000 * NS_PER_SECOND;
  come_expired_as(&other);
  judged_ns = 0;
  peer_close(&other);
  peer_close(&peer);
}

static void nothing_is_signed_by_a_clock_of_1970(void **state) {
  (void)state;
  enrol("edge-1");
  greet(&peer, "edge-1", 11);
  judged_ns = NS_PER_SECOND;
  assert_non_null(strstr(renew(&peer, NULL).error, "before 2024"));
  judged_ns = 0;
  assert_string_equal(renew(&peer, NULL).error, "");
  peer_close(&peer);
}

/* The first certificate is dated ahead, as by a clock that was set back since. */
static void a_certificate_of_the_future_ends_with_the_next_one(void **state) {
  (void)state;
  enrol("edge-1");
  date_certificate(300 * 86400, 330 * 86400);
  greet(&other, "edge-1", 12);
  greet(&peer, "edge-1", 11);
  struct renewed renewed = renew(&peer, NULL);
  assert_string_equal(renewed.error, "");
  keep(&renewed);
  peer_close(&peer);
  greet(&peer, "edge-1", 11);
  assert_ends(&other);
  peer_close(&peer);
  assert_metric("refused_total{reason=\"superseded\"}", 1);
}

static void an_expired_board_gets_nothing_for_another_key(void **state) {
  (void)state;
  enrol("edge-1");
  date_certificate(-1000, -10);
  come_expired();
  struct renewed renewed = renew(&peer, NULL);
  assert_non_null(strstr(renewed.error, "same key"));
  assert_int_equal(renewed.certificate.len, 0);
  assert_ends(&peer);
  assert_metric("renewed_total", 0);
}

static void an_expired_board_that_is_not_known_gets_nothing(void **state) {
  (void)state;
  enrol("edge-1");
  EVP_PKEY *key = ca_files_read_key(path_of("edge-1", "key"));
  X509 *root = ca_files_read_certificate(ca_root_path(door.ca));
  char root_key_path[160];
  snprintf(root_key_path, sizeof root_key_path, "%s/ca/root.key", door.dir);
  EVP_PKEY *root_key = ca_files_read_key(root_key_path);
  struct certificate_terms terms = {.use = CERTIFICATE_BOARD, .name = "edge-9", .seconds = -10};
  X509 *unknown = certificate_make(&terms, key, root, root_key);
  assert_int_equal(ca_files_write_chain(path_of("edge-1", "crt"), unknown, NULL), 0);
  come_expired();
  struct renewed renewed = renew(&peer, key);
  assert_non_null(strstr(renewed.error, "not known"));
  assert_ends(&peer);
  X509_free(unknown);
  X509_free(root);
  EVP_PKEY_free(root_key);
  EVP_PKEY_free(key);
}

static void a_revoked_board_cannot_renew(void **state) {
  (void)state;
  enrol("edge-1");
  date_certificate(-1000, -10);
  come_expired();
  assert_int_equal(access_revoke(door.access, "edge-1"), 0);
  EVP_PKEY *key = ca_files_read_key(path_of("edge-1", "key"));
  struct renewed renewed = renew(&peer, key);
  assert_non_null(strstr(renewed.error, "revoked"));
  assert_ends(&peer);
  EVP_PKEY_free(key);
}

static void an_expired_board_that_cannot_renew_is_told_to_enroll(void **state) {
  (void)state;
  struct message hello = hello_of(11); /* of before there was renewal */
  enrol("edge-1");
  date_certificate(-1000, -10);
  connect_board(&peer, "edge-1");
  assert_true(peer_say(&peer, &hello));
  assert_true(peer_hear(&peer, &heard));
  assert_int_equal(heard.type, FRAME_REJECT);
  assert_non_null(strstr(heard.reject.reason, "has expired"));
  assert_ends(&peer);
  assert_metric("handshakes_total{result=\"expired\"}", 1);
  assert_metric("refused_total{reason=\"expired\"}", 1);
}

static void expiry_forgives_no_other_fault(void **state) {
  (void)state;
  enrol("edge-1");
  EVP_PKEY *key = ca_files_read_key(path_of("edge-1", "key"));
  EVP_PKEY *false_key = certificate_key_make();
  struct certificate_terms root_terms = {.use = CERTIFICATE_ROOT, .name = "f", .days = 10};
  struct certificate_terms terms = {.use = CERTIFICATE_BOARD, .name = "edge-1", .seconds = -10};
  X509 *false_root = certificate_make(&root_terms, false_key, NULL, false_key);
  X509 *forged = certificate_make(&terms, key, false_root, false_key);
  assert_int_equal(ca_files_write_chain(path_of("edge-1", "crt"), forged, NULL), 0);
  int result = peer_connect(&peer, context_of("edge-1"), ingest_port(door.ingest));
  if (result == 1) assert_false(peer_hear(&peer, &heard));
  peer_close(&peer);
  assert_metric("handshakes_total{result=\"unknown_ca\"}", 1);
  assert_metric("handshakes_total{result=\"expired\"}", 0);
  X509_free(forged);
  X509_free(false_root);
  EVP_PKEY_free(false_key);
  EVP_PKEY_free(key);
}

static void refused_renewals_leave_the_log_of_changes_alone(void **state) {
  (void)state;
  enum { REFUSALS = 300 };
  const struct message nonsense = {.type = FRAME_RENEW, .renew = {span_of("nonsense", 8)}};
  enrol("edge-1");
  greet(&peer, "edge-1", 11);
  for (unsigned i = 0; i < REFUSALS; i++) {
    assert_true(peer_say(&peer, &nonsense));
    assert_true(peer_await(&peer, FRAME_RENEWED, &heard));
    assert_string_not_equal(heard.renewed.error, "");
  }
  peer_close(&peer);
  assert_metric("refused_total{reason=\"certificate_request\"}", REFUSALS);
  assert_denied("edge-1: renewal refused");
  assert_not_audited("renewal refused");
  assert_audited("edge-1: enrolled");
}

/* Pings until a message other than a Pong arrives; returns false if none does for 20 s. */
static bool ping_until_told(struct peer *board) {
  struct message ping = {.type = FRAME_PING, .ping = {.counters = {.run = 11}}};
  for (unsigned i = 0; i < 100; i++) {
    if (!peer_say(board, &ping) || !peer_hear(board, &heard)) return false;
    if (heard.type != FRAME_PONG) return true;
    usleep(200000);
  }
  return false;
}

static void a_session_ends_with_its_certificate_and_loses_nothing(void **state) {
  (void)state;
  enrol("edge-1");
  date_certificate(-1000, 3);
  greet(&peer, "edge-1", 11);
  send_batch(&peer, 11, 1);
  assert_acked(&peer, 1);
  assert_true(ping_until_told(&peer));
  assert_int_equal(heard.type, FRAME_REJECT);
  assert_non_null(strstr(heard.reject.reason, "has expired"));
  assert_false(heard.reject.permanent);
  assert_int_equal(heard.reject.retry_after_ms, 5000);
  assert_ends(&peer);
  assert_metric("refused_total{reason=\"outlived\"}", 1);
  assert_denied("edge-1: boards' door: the certificate of this session has expired");
  come_expired();
  EVP_PKEY *key = ca_files_read_key(path_of("edge-1", "key"));
  struct renewed renewed = renew(&peer, key);
  assert_string_equal(renewed.error, "");
  keep(&renewed);
  assert_ends(&peer);
  greet(&peer, "edge-1", 11);
  assert_int_equal(heard.welcome.last_seq, 1);
  send_batch(&peer, 11, 2);
  assert_acked(&peer, 2);
  peer_close(&peer);
  EVP_PKEY_free(key);
}

static void a_newer_certificate_ends_the_sessions_of_older_ones_and_no_others(void **state) {
  (void)state;
  static struct peer bystander;
  enrol("edge-2");
  enrol("edge-1");
  date_certificate(-2 * 86400, 1000);
  greet(&bystander, "edge-2", 21);
  greet(&other, "edge-1", 12); /* a peer that copied the key and stays connected */
  greet(&peer, "edge-1", 11);
  struct renewed renewed = renew(&peer, NULL);
  assert_string_equal(renewed.error, "");
  keep(&renewed);
  peer_close(&peer);
  send_batch(&other, 12, 1);
  assert_acked(&other, 1);
  greet(&peer, "edge-1", 11);
  assert_true(peer_hear(&other, &heard));
  assert_int_equal(heard.type, FRAME_REJECT);
  assert_non_null(strstr(heard.reject.reason, "newer certificate"));
  assert_true(heard.reject.permanent);
  peer_close(&peer);
  greet(&peer, "edge-1", 11); /* again while the other connection is ending */
  assert_ends(&other);
  assert_metric("refused_total{reason=\"superseded\"}", 1);
  assert_denied_once("edge-1: boards' door: this board has come with a newer certificate");
  greet(&other, "edge-1", 11); /* twice with the newest is no matter */
  send_batch(&peer, 11, 1);
  assert_acked(&peer, 1);
  send_batch(&bystander, 21, 1);
  assert_acked(&bystander, 1);
  peer_close(&bystander);
  peer_close(&other);
  peer_close(&peer);
}

/* Installs a server certificate that is to be renewed in twelve seconds, and has it noticed. */
static void shorten_server_certificate(void) {
  char root_key_path[160];
  snprintf(root_key_path, sizeof root_key_path, "%s/ca/root.key", door.dir);
  EVP_PKEY *key = ca_files_read_key(ca_server_key_path(door.ca));
  EVP_PKEY *root_key = ca_files_read_key(root_key_path);
  X509 *root = ca_files_read_certificate(ca_root_path(door.ca));
  char host[65] = "", names[96];
  gethostname(host, sizeof host - 1);
  snprintf(names, sizeof names, "DNS:%s,DNS:localhost", host);
  struct certificate_terms terms = {
      .use = CERTIFICATE_SERVER, .name = host, .alt_names = names, .days = 365, .seconds = 12};
  X509 *server = certificate_make(&terms, key, root, root_key);
  assert_int_equal(ca_files_write_chain(ca_server_certificate_path(door.ca), server, root), 0);
  assert_int_equal(ca_files_write_chain(ca_root_path(door.ca), root, NULL), 0); /* another file */
  X509_free(server);
  X509_free(root);
  EVP_PKEY_free(root_key);
  EVP_PKEY_free(key);
}

/* How many days the server certificate that NAME is shown has left. */
static int days_shown_to(const char *name) {
  int days = 0, seconds = 0;
  connect_board(&other, name);
  X509 *server = SSL_get0_peer_certificate(other.ssl);
  assert_int_equal(ASN1_TIME_diff(&days, &seconds, NULL, X509_get0_notAfter(server)), 1);
  peer_close(&other);
  return days;
}

static void the_server_certificate_is_renewed_without_a_restart(void **state) {
  (void)state;
  enrol("edge-1");
  shorten_server_certificate();
  enrol("edge-2");
  for (unsigned i = 0; i < 110 && days_shown_to("edge-2") > 365; i++) usleep(100000);
  assert_in_range(days_shown_to("edge-2"), 364, 365);
  greet(&peer, "edge-1", 11);
  for (unsigned i = 0; i < 200 && days_shown_to("edge-2") <= 365; i++) usleep(100000);
  assert_true(days_shown_to("edge-2") > 700);
  send_batch(&peer, 11, 1);
  assert_acked(&peer, 1);
  peer_close(&peer);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      AT_DOOR(a_board_renews_in_its_session_and_goes_on),
      AT_DOOR(a_board_that_renews_without_end_is_refused_and_keeps_its_session),
      AT_DOOR(the_old_certificate_is_refused_once_the_new_one_was_used),
      AT_DOOR(an_expired_board_may_renew_with_its_key_and_nothing_else),
      AT_DOOR(an_expired_board_gets_nothing_for_another_key),
      AT_DOOR(an_expired_board_that_is_not_known_gets_nothing),
      AT_DOOR(a_revoked_board_cannot_renew),
      AT_DOOR(an_expired_board_that_cannot_renew_is_told_to_enroll),
      AT_DOOR(expiry_forgives_no_other_fault),
      AT_DOOR(refused_renewals_leave_the_log_of_changes_alone),
      AT_DOOR(the_server_certificate_is_renewed_without_a_restart),
      AT_DOOR(a_session_ends_with_its_certificate_and_loses_nothing),
      AT_DOOR(a_newer_certificate_ends_the_sessions_of_older_ones_and_no_others),
      AT_DOOR(a_certificate_has_expired_by_the_time_on_which_boards_agree),
      AT_DOOR(nothing_is_signed_by_a_clock_of_1970),
      AT_DOOR(a_certificate_of_the_future_ends_with_the_next_one),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
