/* SPDX-License-Identifier: Apache-2.0 */
/* Access to the boards' port, with real sockets and real TLS: tokens, certificates, unauthenticated
 * peers. */
#include "ingest/ingest.h"

#include "board_fixture.h"

#include <unistd.h>

static void wrong_used_and_expired_tokens_are_refused_in_words(void **state) {
  char token[ACCESS_TOKEN_BYTES];
  (void)state;
  EVP_PKEY *key = EVP_EC_gen("P-256");
  request_make(key, key, &request);
  struct enrolled answer = ask_to_enrol(&peer, "fpt_nonsense", request_span(&request));
  assert_string_equal(answer.error, "unknown token");
  assert_ends(&peer);
  make_token("b", 0, token);
  answer = ask_to_enrol(&peer, token, request_span(&request));
  assert_string_equal(answer.error, "token has expired");
  peer_close(&peer);
  make_token("b", HOUR_NS, token);
  answer = ask_to_enrol(&peer, token, request_span(&request));
  assert_string_equal(answer.error, "");
  peer_close(&peer);
  answer = ask_to_enrol(&peer, token, request_span(&request));
  assert_string_equal(answer.error, "token was used");
  assert_int_equal(answer.certificate.len, 0);
  peer_close(&peer);
  assert_metric("refused_total{reason=\"token\"}", 3);
  assert_metric("enrolled_total", 1);
  EVP_PKEY_free(key);
}

static void refused_enrolments_leave_the_log_of_changes_alone(void **state) {
  (void)state;
  enum { REFUSALS = 300 };
  char token[ACCESS_TOKEN_BYTES];
  EVP_PKEY *key = EVP_EC_gen("P-256");
  request_make(key, key, &request);
  access_audit(door.access, "edge-7", "revoked");
  make_token("b", 0, token);
  for (unsigned i = 0; i < REFUSALS; i++) {
    struct span csr = i % 2 == 0 ? request_span(&request) : span_of("nonsense", 8);
    assert_string_not_equal(ask_to_enrol(&peer, token, csr).error, "");
    peer_close(&peer);
  }
  assert_denied("enrolment refused: token has expired");
  assert_not_audited("enrolment refused");
  assert_audited("edge-7: revoked");
  EVP_PKEY_free(key);
}

static void a_broken_request_does_not_use_its_token_up(void **state) {
  char token[ACCESS_TOKEN_BYTES];
  (void)state;
  EVP_PKEY *key = EVP_EC_gen("P-384");
  request_make(key, key, &request);
  make_token("b", HOUR_NS, token);
  struct enrolled answer = ask_to_enrol(&peer, token, request_span(&request));
  assert_string_equal(answer.error, "key is not on the curve P-256");
  peer_close(&peer);
  EVP_PKEY_free(key);
  key = EVP_EC_gen("P-256");
  request_make(key, key, &request);
  answer = ask_to_enrol(&peer, token, request_span(&request));
  assert_string_equal(answer.error, "");
  peer_close(&peer);
  EVP_PKEY_free(key);
}

static void a_request_for_more_gets_a_board_s_certificate_only(void **state) {
  (void)state;
  enrol("edge-1"); /* the fixture's request contains CA:TRUE, serverAuth and other names */
  X509 *certificate = ca_files_read_certificate(path_of("edge-1", "crt"));
  assert_int_equal(X509_check_ca(certificate), 0);
  assert_int_equal(X509_get_extended_key_usage(certificate), XKU_SSL_CLIENT);
  assert_int_equal(X509_check_host(certificate, "evil.example", 0, 0, NULL), 0);
  X509_free(certificate);
}

static void a_stranger_gets_nothing_but_enrolment(void **state) {
  (void)state;
  struct message hello = hello_of(1);
  connect_stranger(&peer);
  peer_say(&peer, &hello);
  assert_true(peer_hear(&peer, &heard));
  assert_int_equal(heard.type, FRAME_ENROLLED);
  assert_non_null(strstr(heard.enrolled.error, "wrong_order"));
  assert_ends(&peer);
  assert_metric("refused_total{reason=\"wrong_order\"}", 1);
}

/* Sends BYTES without TLS and waits for the end. */
static void knock_with(const char *bytes) {
  char answer[512];
  int fd = peer_socket(ingest_port(door.ingest));
  assert_int_equal(send(fd, bytes, strlen(bytes), MSG_NOSIGNAL), strlen(bytes));
  while (recv(fd, answer, sizeof answer, 0) > 0) {
  }
  assert_int_not_equal(errno, EAGAIN);
  close(fd);
}

static void what_is_not_tls_is_closed_and_counted(void **state) {
  (void)state;
  enrol("edge-1");
  greet(&peer, "edge-1", 11);
  knock_with("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  knock_with("SSH-2.0-OpenSSH_9.2\r\n");
  send_batch(&peer, 11, 1);
  assert_acked(&peer, 1);
  assert_metric("handshakes_total{result=\"protocol\"}", 2);
  peer_close(&peer);
}

static void a_certificate_of_another_authority_is_refused(void **state) {
  (void)state;
  enrol("edge-1");
  EVP_PKEY *key = ca_files_read_key(path_of("edge-1", "key"));
  X509 *root = ca_files_read_certificate(ca_root_path(door.ca));
  char name[128];
  X509_NAME_get_text_by_NID(X509_get_subject_name(root), NID_commonName, name, sizeof name);
  struct certificate_terms root_terms = {.use = CERTIFICATE_ROOT, .name = name, .days = 10};
  struct certificate_terms terms = {.use = CERTIFICATE_BOARD,
                                    .name = "edge-1",
                                    .alt_names = "URI:spiffe://fleetprof/board/edge-1",
                                    .days = 10};
  EVP_PKEY *false_key = certificate_key_make();
  X509 *false_root = certificate_make(&root_terms, false_key, NULL, false_key);
  X509 *forged = certificate_make(&terms, key, false_root, false_key);
  assert_int_equal(ca_files_write_chain(path_of("edge-1", "crt"), forged, NULL), 0);
  int result = peer_connect(&peer, context_of("edge-1"), ingest_port(door.ingest));
  if (result == 1) assert_false(peer_hear(&peer, &heard)); /* TLS 1.3: reported at the first read */
  peer_close(&peer);
  assert_metric("handshakes_total{result=\"unknown_ca\"}", 1);
  assert_metric("boards_connected", 0);
  X509_free(forged);
  X509_free(false_root);
  X509_free(root);
  EVP_PKEY_free(false_key);
  EVP_PKEY_free(key);
}

static unsigned clocks_heard(void) {
  return trusted_time_look(door.time, clock_walltime_ns(), clock_boottime_ns()).boards;
}

static void a_revoked_board_is_cut_off_and_refused_in_its_next_handshake(void **state) {
  (void)state;
  char why[256];
  struct message hello = hello_of(11);
  enrol("edge-1");
  enrol("edge-2");
  greet(&peer, "edge-1", 11);
  assert_int_equal(clocks_heard(), 1);
  assert_int_equal(access_revoke(door.access, "edge-1"), 0);
  assert_int_equal(ingest_revoked_s(door.ingest, "edge-1"), 0);
  connect_board(&other, "edge-1"); /* the list is not yet read again: the hello is checked */
  assert_true(peer_say(&other, &hello));
  assert_true(peer_hear(&other, &heard));
  assert_int_equal(heard.type, FRAME_REJECT);
  assert_string_equal(heard.reject.reason, ACCESS_REVOKED_WHY);
  assert_ends(&other);
  assert_true(peer_hear(&peer, &heard)); /* and its other session ends with the same words */
  assert_int_equal(heard.type, FRAME_REJECT);
  assert_true(heard.reject.permanent);
  assert_ends(&peer);
  assert_true(ingest_revoked_s(door.ingest, "edge-1") > 0);
  assert_int_equal(clocks_heard(), 0);
  assert_int_equal(ingest_revoked_s(door.ingest, "edge-2"), 0);
  int result = peer_connect(&peer, context_of("edge-1"), ingest_port(door.ingest));
  if (result == 1) assert_false(peer_hear(&peer, &heard));
  tls_failure(peer.ssl, why, sizeof why);
  peer_close(&peer);
  assert_metric("handshakes_total{result=\"revoked\"}", 1);
  greet(&other, "edge-2", 22);
  peer_close(&other);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      AT_DOOR(wrong_used_and_expired_tokens_are_refused_in_words),
      AT_DOOR(refused_enrolments_leave_the_log_of_changes_alone),
      AT_DOOR(a_broken_request_does_not_use_its_token_up),
      AT_DOOR(a_request_for_more_gets_a_board_s_certificate_only),
      AT_DOOR(a_stranger_gets_nothing_but_enrolment),
      AT_DOOR(what_is_not_tls_is_closed_and_counted),
      AT_DOOR(a_certificate_of_another_authority_is_refused),
      AT_DOOR(a_revoked_board_is_cut_off_and_refused_in_its_next_handshake),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
