/* SPDX-License-Identifier: Apache-2.0 */
/* The real server with its real parts on a folder of its own, talked to over raw sockets. */
#include "server_fixture.h"

#include <dirent.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

static unsigned count_of(const char *text, const char *part) {
  unsigned count = 0;
  for (; (text = strstr(text, part)) != NULL; text++) count++;
  return count;
}

static void every_malformed_head_gets_400_and_nothing_after_it_counts(void **state) {
  (void)state;
  static const char *const heads[] = {
      GET("/healthz") "Content-Length: 5\r\nContent-Length: 5\r\n\r\n",
      GET("/healthz") "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
      GET("/healthz") "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      GET("/healthz") "Content-Length: 0x10\r\n\r\n",
      GET("/healthz") "Host: localhost\r\n\r\n",
      GET("/healthz") "X : a\r\n\r\n",
      GET("/healthz") "X: a\r\n b\r\n\r\n",
      "GET /healthz HTTP/1.1\nHost: localhost\n\n",
      "GET /healthz HTTP/1.1\r\n\r\n",
      "\r\n\r\n",
  };
  struct buf answer = {0};
  for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
    char text[512];
    int len =
        snprintf(text, sizeof text, "%sGET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", heads[i]);
    const char *got = talk(text, (size_t)len, &answer);
    assert_non_null(strstr(got, "HTTP/1.1 400 Bad Request\r\n"));
    assert_int_equal(count_of(got, "HTTP/1.1"), 1);
    assert_non_null(strstr(got, "Content-Type: application/problem+json\r\n"));
    assert_non_null(strstr(got, "Connection: close\r\n"));
    assert_non_null(strstr(got, "\"status\":400,\"detail\":\""));
  }
  buf_fini(&answer);
}

static void a_bad_head_behind_a_good_one_is_seen_too(void **state) {
  (void)state;
  static const char text[] =
      GET("/healthz") "\r\n" GET("/healthz") "Content-Length: 1\r\n"
                                             "Content-Length: 2\r\n\r\n" GET("/healthz") "\r\n";
  struct buf answer = {0};
  const char *got = talk(text, sizeof text - 1, &answer);
  assert_int_equal(count_of(got, "HTTP/1.1 200 OK"), 1);
  assert_int_equal(count_of(got, "HTTP/1.1 400 "), 1);
  buf_fini(&answer);
}

static void a_request_with_a_body_is_the_last_of_its_connection(void **state) {
  (void)state;
  static const char text[] = GET("/healthz") "Content-Length: 5\r\n\r\n"
                                             "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
  struct buf answer = {0};
  const char *got = talk(text, sizeof text - 1, &answer);
  assert_int_equal(count_of(got, "HTTP/1.1 200 OK"), 1);
  assert_non_null(strstr(got, "Connection: close\r\n"));
  buf_fini(&answer);
}

static void requests_in_a_row_are_answered_in_order(void **state) {
  (void)state;
  static const char text[] =
      GET("/healthz") "\r\n" GET("/api/v1/boards") "\r\n" GET("/nowhere") "\r\n" GET("/api/v1/loss")
          LAST;
  struct buf answer = {0};
  const char *got = talk(text, sizeof text - 1, &answer);
  const char *health = strstr(got, "ok\n"), *boards = strstr(got, "{\"boards\":[]}\n");
  const char *nowhere = strstr(got, "HTTP/1.1 404 "), *loss = strstr(got, "\"produced\":0");
  assert_true(health && boards && nowhere && loss);
  assert_true(health < boards && boards < nowhere && nowhere < loss);
  assert_int_equal(count_of(got, "HTTP/1.1 "), 4);
  buf_fini(&answer);
}

static void a_head_may_come_byte_by_byte(void **state) {
  (void)state;
  static const char text[] = GET("/healthz") LAST;
  struct buf answer = {0};
  int fd = connect_to_server();
  for (size_t i = 0; i < sizeof text - 1; i++) {
    send_all(fd, text + i, 1);
    usleep(200);
  }
  assert_true(read_all(fd, &answer));
  assert_non_null(strstr(buf_text(&answer), "HTTP/1.1 200 OK"));
  close(fd);
  buf_fini(&answer);
}

static void a_peer_that_has_half_closed_gets_its_whole_answer(void **state) {
  (void)state;
  static const char text[] = GET("/api/v1/openapi.json") "\r\n";
  struct buf answer = {0};
  int fd = connect_to_server();
  send_all(fd, text, sizeof text - 1);
  shutdown(fd, SHUT_WR);
  assert_true(read_all(fd, &answer));
  const char *got = buf_text(&answer);
  assert_non_null(strstr(got, "HTTP/1.1 200 OK"));
  assert_string_equal(got + strlen(got) - 2, "}\n");
  close(fd);
  buf_fini(&answer);
}

static void a_head_request_has_the_length_and_no_body(void **state) {
  (void)state;
  static const char text[] = "HEAD / HTTP/1.1\r\nHost: localhost\r\n" LAST;
  struct buf answer = {0};
  const char *got = talk(text, sizeof text - 1, &answer);
  assert_non_null(strstr(got, "HTTP/1.1 200 OK"));
  assert_null(strstr(got, "Content-Length: 0\r\n"));
  assert_string_equal(got + strlen(got) - 4, "\r\n\r\n");
  assert_null(strstr(got, "<html"));
  buf_fini(&answer);
}

static void a_wrong_method_is_405_with_allow(void **state) {
  (void)state;
  static const char text[] = "OPTIONS /api/v1/boards HTTP/1.1\r\nHost: localhost\r\n" LAST;
  struct buf answer = {0};
  const char *got = talk(text, sizeof text - 1, &answer);
  assert_non_null(strstr(got, "HTTP/1.1 405 "));
  assert_non_null(strstr(got, "Allow: GET, HEAD\r\n"));
  buf_fini(&answer);
}

static void strangers_are_told_what_is_missing(void **state) {
  (void)state;
  static const char *const heads[] = {
      "GET /api/v1/boards HTTP/1.1\r\nHost: evil.example\r\n" LAST,
      GET("/api/v1/boards") "X-Forwarded-For: 10.0.0.1\r\n" LAST,
      GET("/metrics") "Via: 1.1 proxy\r\n" LAST,
      GET("/api/v1/boards") "Authorization: Bearer wrong\r\n" LAST,
      "GET /api/v1/boards HTTP/1.0\r\n\r\n",
  };
  struct buf answer = {0};
  for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
    const char *got = talk(heads[i], strlen(heads[i]), &answer);
    assert_non_null(strstr(got, "HTTP/1.1 401 "));
    assert_non_null(strstr(got, "WWW-Authenticate: Bearer"));
  }
  buf_fini(&answer);
}

static void a_read_token_opens_reading_and_not_writing(void **state) {
  (void)state;
  char token[ACCESS_TOKEN_BYTES], text[512];
  struct buf answer = {0};
  make_token(ROLE_READ, 600, token);
  int len = snprintf(text, sizeof text,
                     "GET /api/v1/boards HTTP/1.1\r\nHost: far.example\r\n"
                     "Authorization: bearer %s\r\n" LAST,
                     token);
  assert_non_null(strstr(talk(text, (size_t)len, &answer), "HTTP/1.1 200 OK"));
  len = snprintf(text, sizeof text,
                 "PUT /api/v1/debug/abcd HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n"
                 "Authorization: Bearer %s\r\n" LAST,
                 token);
  assert_non_null(strstr(talk(text, (size_t)len, &answer), "HTTP/1.1 403 "));
  buf_fini(&answer);
}

static void an_upload_without_a_token_is_refused_before_its_body(void **state) {
  (void)state;
  static const char text[] = "PUT /api/v1/debug/abcd HTTP/1.1\r\nHost: localhost\r\n"
                             "Content-Length: 60000000\r\nExpect: 100-continue\r\n\r\n";
  struct buf answer = {0};
  const char *got = talk(text, sizeof text - 1, &answer);
  assert_non_null(strstr(got, "HTTP/1.1 401 "));
  assert_null(strstr(got, "100 Continue"));
  buf_fini(&answer);
}

static const char *upload(const char *token, const char *target, const char *fields,
                          struct span body, struct buf *answer) {
  struct buf text = {0};
  buf_printf(&text, "PUT %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n%s\r\n",
             target, token, fields);
  buf_append(&text, body.data, body.len);
  const char *got = talk((char *)text.data, text.len, answer);
  buf_fini(&text);
  return got;
}

static void uploads_that_say_nonsense_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *target, *fields, *status;
  } cases[] = {
      {"/api/v1/debug/abcd", "", "411"},
      {"/api/v1/debug/abcd", "Content-Length: 0\r\n", "400"},
      {"/api/v1/debug/abcd", "Content-Length: 67108865\r\n", "413"},
      {"/api/v1/debug/abc", "Content-Length: 4\r\n", "400"},
      {"/api/v1/debug/xyzw", "Content-Length: 4\r\n", "400"},
      {"/api/v1/debug/abcd?offset=-1", "Content-Length: 4\r\n", "400"},
      {"/api/v1/debug/abcd?offset=2000000000", "Content-Length: 4\r\n", "400"},
      {"/api/v1/debug/abcd?total=3", "Content-Length: 4\r\n", "400"},
      {"/api/v1/debug/abcd?size=4", "Content-Length: 4\r\n", "400"},
      {"/api/v1/debug/abcd", "Content-Length: 4\r\n", "400"}, /* no ELF file */
  };
  char token[ACCESS_TOKEN_BYTES];
  struct buf answer = {0};
  make_token(ROLE_SYMBOLS, 600, token);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *got = upload(token, cases[i].target, cases[i].fields, span_of("ABCD", 4), &answer);
    if (strncmp(got + 9, cases[i].status, 3) != 0) print_error("%s\n%s\n", cases[i].target, got);
    assert_memory_equal(got + 9, cases[i].status, 3);
  }
  buf_fini(&answer);
}

static void the_page_comes_whole_with_its_protection(void **state) {
  (void)state;
  static const char text[] = GET("/") LAST;
  struct buf answer = {0};
  const char *got = talk(text, sizeof text - 1, &answer);
  assert_non_null(strstr(got, "Content-Security-Policy: default-src 'none'; script-src 'self'"));
  assert_non_null(strstr(got, "frame-ancestors 'none'"));
  assert_non_null(strstr(got, "X-Content-Type-Options: nosniff\r\n"));
  assert_non_null(strstr(got, "</html>"));
  assert_null(strstr(got, "<script>"));
  char etag[64], again[256];
  assert_int_equal(sscanf(strstr(got, "ETag: "), "ETag: %63s", etag), 1);
  int len = snprintf(again, sizeof again, GET("/") "If-None-Match: %s\r\n" LAST, etag);
  got = talk(again, (size_t)len, &answer);
  assert_non_null(strstr(got, "HTTP/1.1 304 "));
  assert_null(strstr(got, "<html"));
  buf_fini(&answer);
}

static void answers_about_the_fleet_are_not_kept(void **state) {
  (void)state;
  static const char text[] = GET("/api/v1/boards") LAST;
  struct buf answer = {0};
  assert_non_null(strstr(talk(text, sizeof text - 1, &answer), "Cache-Control: no-store\r\n"));
  buf_fini(&answer);
}

static void hundreds_of_idle_connections_keep_nobody_out(void **state) {
  (void)state;
  enum { CROWD = 600, OPEN_MAX = 512 };
  static int crowd[CROWD];
  static const char text[] = GET("/metrics") LAST;
  unsigned open_now = 0;
  struct buf answer = {0};
  for (int i = 0; i < CROWD; i++) crowd[i] = connect_to_server();
  const char *count = strstr(talk(text, sizeof text - 1, &answer), "\nfleetprof_http_connections ");
  assert_non_null(count);
  assert_int_equal(sscanf(count, "\nfleetprof_http_connections %u", &open_now), 1);
  assert_in_range(open_now, OPEN_MAX / 2, OPEN_MAX);
  for (int i = 0; i < CROWD; i++) close(crowd[i]);
  buf_fini(&answer);
}

/* A connection that was just accepted is not the one to be closed, although it has sent nothing
   yet. */
static void hundreds_of_slow_connections_keep_nobody_out(void **state) {
  (void)state;
  enum { CROWD = 600, BEHIND = 50 };
  static int crowd[CROWD], behind[BEHIND];
  static const char text[] = GET("/healthz") LAST;
  const struct timespec moment = {.tv_nsec = 100000000};
  struct buf answer = {0};
  for (int i = 0; i < CROWD; i++) {
    crowd[i] = connect_to_server();
    send_all(crowd[i], "G", 1);
  }
  nanosleep(&moment, NULL);
  int visitor = connect_to_server();
  for (int i = 0; i < BEHIND; i++) behind[i] = connect_to_server();
  nanosleep(&moment, NULL);
  send_all(visitor, text, sizeof text - 1);
  assert_true(read_all(visitor, &answer));
  assert_non_null(strstr(buf_text(&answer), "HTTP/1.1 200 "));
  close(visitor);
  for (int i = 0; i < CROWD; i++) close(crowd[i]);
  for (int i = 0; i < BEHIND; i++) close(behind[i]);
  buf_fini(&answer);
}

/* The id of our thread named NAME, or 0. */
static pid_t thread_called(const char *name) {
  DIR *threads = opendir("/proc/self/task");
  pid_t found = 0;
  for (struct dirent *entry; threads != NULL && (entry = readdir(threads)) != NULL;) {
    char path[300], comm[32] = "";
    snprintf(path, sizeof path, "/proc/self/task/%s/comm", entry->d_name);
    FILE *file = fopen(path, "re");
    if (file == NULL) continue;
    if (fgets(comm, sizeof comm, file) != NULL && strncmp(comm, name, strlen(name)) == 0)
      found = (pid_t)strtol(entry->d_name, NULL, 10);
    fclose(file);
  }
  if (threads != NULL) closedir(threads);
  return found;
}

/* Stops one of our threads, by a child that traces it, until the returned pipe is closed; -1 if
   tracing is not permitted. */
static int hold_thread(pid_t thread, pid_t *ret_child) {
  int hold[2], held[2];
  char word = 0;
  assert_int_equal(pipe(hold) | pipe(held), 0);
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
  *ret_child = fork();
  if (*ret_child == 0) {
    close(hold[1]);
    word =
        ptrace(PTRACE_ATTACH, thread, NULL, NULL) == 0 && waitpid(thread, NULL, __WALL) == thread;
    if (write(held[1], &word, 1) != 1 || read(hold[0], &word, 1) != 0) _exit(1);
    _exit(0); /* the thread continues */
  }
  close(hold[0]);
  close(held[1]);
  bool is_held = read(held[0], &word, 1) == 1 && word == 1;
  close(held[0]);
  if (is_held) return hold[1];
  close(hold[1]);
  waitpid(*ret_child, NULL, 0);
  return -1;
}

static uint64_t read_metric(const char *name) {
  static const char text[] = GET("/metrics") LAST;
  struct buf answer = {0};
  char line[80];
  uint64_t value = 0;
  snprintf(line, sizeof line, "\n%s ", name);
  const char *found = strstr(talk(text, sizeof text - 1, &answer), line);
  assert_non_null(found);
  assert_int_equal(sscanf(found + strlen(line), "%" SCNu64, &value), 1);
  buf_fini(&answer);
  return value;
}

/* The thread that answers queries stands still, as during a query that takes its full two minutes.
 */
static void monitoring_is_answered_while_a_query_takes_its_time(void **state) {
  (void)state;
  static const char query[] = GET("/api/v1/profile?match=%7B%7D&from=-1h") LAST;
  static const char *const texts[] = {GET("/metrics") LAST, GET("/api/v1/boards") LAST,
                                      GET("/api/v1/loss") LAST};
  struct buf answer = {0};
  pid_t child;
  int hold = hold_thread(thread_called("query"), &child);
  if (hold < 0) skip();
  int waiting = connect_to_server();
  send_all(waiting, query, sizeof query - 1);
  struct pollfd ready = {.fd = waiting, .events = POLLIN};
  assert_int_equal(poll(&ready, 1, 300), 0);
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    assert_non_null(strstr(talk(texts[i], strlen(texts[i]), &answer), "HTTP/1.1 200 "));
  assert_int_equal(poll(&ready, 1, 0), 0);
  close(hold);
  buf_clear(&answer);
  assert_true(read_all(waiting, &answer));
  assert_non_null(strstr(buf_text(&answer), "HTTP/1.1 200 "));
  waitpid(child, NULL, 0);
  close(waiting);
  buf_fini(&answer);
}

enum { QUEUE = 32 }; /* queries that may wait */

static int begin_query(const char *token) {
  char text[512];
  int len =
      snprintf(text, sizeof text, GET("/api/v1/profile?from=-1h") "%s%s%s" LAST,
               token ? "Authorization: Bearer " : "", token ? token : "", token ? "\r\n" : "");
  int fd = connect_to_server();
  send_all(fd, text, (size_t)len);
  return fd;
}

static bool is_queue_full(void) {
  static const char text[] = GET("/readyz") LAST;
  struct buf answer = {0};
  bool is_full = strstr(talk(text, sizeof text - 1, &answer), "HTTP/1.1 503 ") != NULL;
  buf_fini(&answer);
  return is_full;
}

/* Fills the queue of a stopped query thread; a scrape's query may also take a place. Returns the
   number queued. */
static unsigned fill_queue(int fds[QUEUE]) {
  unsigned count = 0;
  while (!is_queue_full()) {
    assert_true(count < QUEUE);
    fds[count++] = begin_query(NULL);
    while (read_metric("fleetprof_queries_waiting") < count) continue;
  }
  return count;
}

/* The answering thread stands still, and the client disconnects, by reset or regular close. */
static void whose_peer_is_gone_has_no_place(void **state) {
  (void)state;
  static const struct linger reset = {.l_onoff = 1};
  int fds[QUEUE];
  pid_t child;
  int hold = hold_thread(thread_called("query"), &child);
  if (hold < 0) skip();
  uint64_t before = read_metric("fleetprof_http_abandoned_requests_total");
  unsigned count = fill_queue(fds);
  for (unsigned i = 0; i < count; i++) {
    if (i % 2 == 1) setsockopt(fds[i], SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    close(fds[i]);
  }
  while (read_metric("fleetprof_http_abandoned_requests_total") < before + count) continue;
  assert_int_equal(read_metric("fleetprof_queries_waiting"), 0);
  assert_false(is_queue_full());
  int fd = begin_query(NULL);
  close(hold);
  struct buf answer = {0};
  assert_true(read_all(fd, &answer));
  assert_non_null(strstr(buf_text(&answer), "HTTP/1.1 200 "));
  waitpid(child, NULL, 0);
  close(fd);
  buf_fini(&answer);
}

/* The server probes whether the peer still reads, by bytes that the peer ignores. */
static void a_peer_that_has_half_closed_is_waited_for(void **state) {
  (void)state;
  struct buf answer = {0};
  pid_t child;
  char word[25];
  int hold = hold_thread(thread_called("query"), &child);
  if (hold < 0) skip();
  int fd = begin_query(NULL);
  shutdown(fd, SHUT_WR);
  assert_int_equal(recv(fd, word, sizeof word, MSG_WAITALL), sizeof word);
  assert_memory_equal(word, "HTTP/1.1 100 Continue\r\n\r\n", sizeof word);
  close(hold);
  assert_true(read_all(fd, &answer));
  assert_non_null(strstr(buf_text(&answer), "HTTP/1.1 200 "));
  waitpid(child, NULL, 0);
  close(fd);
  buf_fini(&answer);
}

static void a_token_has_its_share_of_a_full_queue(void **state) {
  (void)state;
  int fds[QUEUE];
  pid_t child;
  char token[ACCESS_TOKEN_BYTES];
  struct buf answer = {0};
  unsigned refused = 0;
  make_token(ROLE_READ, 600, token);
  int hold = hold_thread(thread_called("query"), &child);
  if (hold < 0) skip();
  unsigned count = fill_queue(fds);
  int fd = begin_query(token);
  struct pollfd newest = {.fd = fds[count - 1], .events = POLLIN};
  assert_int_equal(poll(&newest, 1, 60000), 1); /* it made room: no other connection is rejected */
  close(hold);
  assert_true(read_all(fd, &answer));
  assert_non_null(strstr(buf_text(&answer), "HTTP/1.1 200 "));
  for (unsigned i = 0; i < count; i++) {
    buf_clear(&answer);
    assert_true(read_all(fds[i], &answer));
    bool is_refused = strstr(buf_text(&answer), "HTTP/1.1 503 ") != NULL;
    if (is_refused) assert_non_null(strstr(buf_text(&answer), "more of them than others"));
    refused += is_refused;
    close(fds[i]);
  }
  assert_int_equal(refused, 1);
  waitpid(child, NULL, 0);
  close(fd);
  buf_fini(&answer);
}

static void a_page_of_another_site_is_refused_with_the_reason(void **state) {
  (void)state;
  static const char refused[] = GET("/api/v1/labels") "Sec-Fetch-Site: cross-site\r\n" LAST;
  static const char ours[] =
      GET("/api/v1/labels") "Sec-Fetch-Site: same-origin\r\nOrigin: http://localhost\r\n" LAST;
  static const char page[] = GET("/") "Sec-Fetch-Site: cross-site\r\n" LAST; /* by a link */
  struct buf answer = {0};
  assert_non_null(strstr(talk(refused, sizeof refused - 1, &answer), "HTTP/1.1 401 "));
  assert_non_null(strstr(buf_text(&answer), "a web page of another site made the browser ask"));
  assert_non_null(strstr(talk(ours, sizeof ours - 1, &answer), "HTTP/1.1 200 "));
  assert_non_null(strstr(talk(page, sizeof page - 1, &answer), "HTTP/1.1 200 "));
  buf_fini(&answer);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_malformed_head_gets_400_and_nothing_after_it_counts),
      cmocka_unit_test(a_bad_head_behind_a_good_one_is_seen_too),
      cmocka_unit_test(a_request_with_a_body_is_the_last_of_its_connection),
      cmocka_unit_test(requests_in_a_row_are_answered_in_order),
      cmocka_unit_test(a_head_may_come_byte_by_byte),
      cmocka_unit_test(a_peer_that_has_half_closed_gets_its_whole_answer),
      cmocka_unit_test(whose_peer_is_gone_has_no_place),
      cmocka_unit_test(a_peer_that_has_half_closed_is_waited_for),
      cmocka_unit_test(a_token_has_its_share_of_a_full_queue),
      cmocka_unit_test(a_page_of_another_site_is_refused_with_the_reason),
      cmocka_unit_test(a_head_request_has_the_length_and_no_body),
      cmocka_unit_test(a_wrong_method_is_405_with_allow),
      cmocka_unit_test(strangers_are_told_what_is_missing),
      cmocka_unit_test(a_read_token_opens_reading_and_not_writing),
      cmocka_unit_test(an_upload_without_a_token_is_refused_before_its_body),
      cmocka_unit_test(uploads_that_say_nonsense_are_refused),
      cmocka_unit_test(the_page_comes_whole_with_its_protection),
      cmocka_unit_test(answers_about_the_fleet_are_not_kept),
      cmocka_unit_test(monitoring_is_answered_while_a_query_takes_its_time),
      cmocka_unit_test(hundreds_of_idle_connections_keep_nobody_out),
      cmocka_unit_test(hundreds_of_slow_connections_keep_nobody_out),
  };
  return cmocka_run_group_tests(tests, start_server, stop_server);
}
