/* SPDX-License-Identifier: Apache-2.0 */
/* Against a server of a few lines: each connection gets the bytes of its row. */
#include "fetch/fetch.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

enum { ROWS_MAX = 4, REQUEST_BYTES = 4 << 20 };

struct row {                     /* one connection */
  const char *answers[ROWS_MAX]; /* one per request; NULL: hang up */
  size_t read_bytes;   /* of the request, before the answer; 0: up to the end of its head */
  const char *endless; /* follows the answers until the other side has enough; or NULL */
};

struct server {
  const struct row *rows;
  unsigned count;
  int fd;
  char url[64];
  pthread_t thread;
  char *seen; /* all received bytes, terminated by NUL */
  size_t seen_len;
};

static bool has_request(const struct server *server, size_t from, size_t wanted) {
  if (wanted > 0) return server->seen_len - from >= wanted;
  return strstr(server->seen + from, "\r\n\r\n") != NULL;
}

static void serve_row(struct server *server, const struct row *row, int fd) {
  for (int i = 0; i < ROWS_MAX && row->answers[i] != NULL; i++) {
    size_t from = server->seen_len;
    while (!has_request(server, from, row->read_bytes)) {
      ssize_t got =
          recv(fd, server->seen + server->seen_len, REQUEST_BYTES - 1 - server->seen_len, 0);
      if (got <= 0) return;
      server->seen_len += (size_t)got;
      server->seen[server->seen_len] = '\0';
    }
    send(fd, row->answers[i], strlen(row->answers[i]), MSG_NOSIGNAL);
  }
  while (row->endless != NULL && send(fd, row->endless, strlen(row->endless), MSG_NOSIGNAL) > 0)
    continue;
}

static void *serve(void *context) {
  struct server *server = context;
  for (unsigned i = 0; i < server->count; i++) {
    int fd = accept(server->fd, NULL, NULL);
    if (fd < 0) break;
    serve_row(server, &server->rows[i], fd);
    shutdown(fd, SHUT_WR);
    char rest[4096];
    while (recv(fd, rest, sizeof rest, 0) > 0) continue;
    close(fd);
  }
  return NULL;
}

static void start(struct server *server, const struct row *rows, unsigned count) {
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t len = sizeof at;
  *server = (struct server){.rows = rows, .count = count, .seen = calloc(1, REQUEST_BYTES)};
  server->fd = socket(AF_INET, SOCK_STREAM, 0);
  assert_int_equal(bind(server->fd, (struct sockaddr *)&at, sizeof at), 0);
  assert_int_equal(listen(server->fd, 4), 0);
  assert_int_equal(getsockname(server->fd, (struct sockaddr *)&at, &len), 0);
  snprintf(server->url, sizeof server->url, "http://127.0.0.1:%u", ntohs(at.sin_port));
  assert_int_equal(pthread_create(&server->thread, NULL, serve, server), 0);
}

static void stop(struct server *server) {
  pthread_join(server->thread, NULL);
  close(server->fd);
  free(server->seen);
}

static struct fetch *open_client(const struct server *server, const char *token) {
  struct fetch_server to = {.token = token};
  struct fetch *fetch = NULL;
  char why[FETCH_WHY_BYTES];
  assert_int_equal(url_parse(server->url, &to.url, why, sizeof why), 0);
  assert_int_equal(fetch_open(&to, &fetch, why, sizeof why), 0);
  return fetch;
}

#define OK_4 \
  "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 4\r\n\r\n"

static void an_answer_comes_whole(void **state) {
  (void)state;
  static const struct row rows[] = {{.answers = {OK_4 "body"}}};
  const struct fetch_call call = {.method = "GET", .target = "/a?b=c"};
  struct server server;
  struct fetch_answer answer;
  start(&server, rows, 1);
  struct fetch *fetch = open_client(&server, "secret");
  assert_int_equal(fetch_call(fetch, &call, &answer), 0);
  assert_int_equal(answer.status, 200);
  assert_string_equal(answer.type, "text/plain");
  assert_string_equal(buf_text(&answer.body), "body");
  fetch_answer_fini(&answer);
  fetch_close(fetch);
  assert_non_null(strstr(server.seen, "GET /a?b=c HTTP/1.1\r\n"));
  assert_non_null(strstr(server.seen, "\r\nAuthorization: Bearer secret\r\n"));
  stop(&server);
}

static void one_connection_serves_many_calls_and_a_lost_one_is_made_anew(void **state) {
  (void)state;
  static const struct row rows[] = {{.answers = {OK_4 "1111", OK_4 "2222"}},
                                    {.answers = {OK_4 "3333"}}};
  const struct fetch_call call = {.method = "GET", .target = "/"};
  struct server server;
  start(&server, rows, 2);
  struct fetch *fetch = open_client(&server, NULL);
  for (char digit = '1'; digit <= '3'; digit++) {
    struct fetch_answer answer;
    assert_int_equal(fetch_call(fetch, &call, &answer), 0);
    assert_int_equal(buf_text(&answer.body)[0], digit);
    fetch_answer_fini(&answer);
  }
  fetch_close(fetch);
  stop(&server);
}

static void chunks_and_bodies_without_end_are_read(void **state) {
  (void)state;
  static const struct row rows[] = {
      {.answers = {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n",
                   "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\nto the end"}}};
  static const char *const bodies[] = {"ab", "to the end"};
  const struct fetch_call call = {.method = "GET", .target = "/"};
  struct server server;
  start(&server, rows, 1);
  struct fetch *fetch = open_client(&server, NULL);
  for (int i = 0; i < 2; i++) {
    struct fetch_answer answer;
    assert_int_equal(fetch_call(fetch, &call, &answer), 0);
    assert_string_equal(buf_text(&answer.body), bodies[i]);
    fetch_answer_fini(&answer);
  }
  fetch_close(fetch);
  stop(&server);
}

static void what_is_cut_short_or_too_long_is_no_answer(void **state) {
  (void)state;
  static const struct row rows[] = {
      {.answers = {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nbody"}},
      {.answers = {OK_4 "body"}},
      {.answers = {"220 smtp.example ESMTP\r\n\r\n"}},
      {.answers = {NULL}},
  };
  static const int errors[] = {-ECONNRESET, -EOVERFLOW, -EBADMSG, -ECONNRESET};
  const struct fetch_call call = {.method = "GET", .target = "/", .answer_bytes_max = 3};
  const struct fetch_call roomy = {.method = "GET", .target = "/", .answer_bytes_max = 100};
  struct server server;
  start(&server, rows, 4);
  for (int i = 0; i < 4; i++) {
    struct fetch *fetch = open_client(&server, NULL);
    struct fetch_answer answer;
    assert_int_equal(fetch_call(fetch, i == 1 ? &call : &roomy, &answer), errors[i]);
    assert_true(fetch_why(fetch)[0] != '\0');
    fetch_close(fetch);
  }
  stop(&server);
}

static int count_bytes(void *context, struct span piece) {
  *(uint64_t *)context += piece.len;
  return 0;
}

/* Two servers lack the file and send an endless error text; the third has it. */
static void a_refusal_without_end_takes_little_memory_and_is_a_refusal(void **state) {
  (void)state;
  static const char block[] = "ffff\r\n0123456789abcdef";
  static const struct row rows[] = {
      {.answers = {"HTTP/1.1 404 Not Found\r\n\r\n"}, .endless = block},
      {.answers = {"HTTP/1.1 404 Not Found\r\nTransfer-Encoding: chunked\r\n\r\nfffffff\r\n"},
       .endless = block},
      {.answers = {OK_4 "body"}}};
  static const int statuses[] = {404, 404, 200};
  uint64_t taken = 0;
  const struct fetch_call call = {.method = "GET",
                                  .target = "/",
                                  .on_piece = count_bytes,
                                  .context = &taken,
                                  .answer_bytes_max = UINT64_C(64) << 20};
  struct server server;
  start(&server, rows, 3);
  struct fetch *fetch = open_client(&server, NULL);
  for (int i = 0; i < 3; i++) {
    struct fetch_answer answer;
    assert_int_equal(fetch_call(fetch, &call, &answer), 0);
    assert_int_equal(answer.status, statuses[i]);
    assert_int_equal(answer.body.len, i < 2 ? FETCH_REFUSAL_BYTES_MAX : 0);
    fetch_answer_fini(&answer);
  }
  assert_int_equal(taken, 4);
  fetch_close(fetch);
  stop(&server);
}

static long read_x(void *context, uint64_t offset, void *to, size_t room) {
  (void)offset;
  uint64_t *taken = context;
  memset(to, 'x', room);
  *taken += room;
  return (long)room;
}

static void a_body_goes_out_in_pieces(void **state) {
  (void)state;
  enum { BODY = 300000 };
  static const struct row rows[] = {{.answers = {OK_4 "done"}, .read_bytes = BODY + 100}};
  uint64_t taken = 0;
  const struct fetch_call call = {
      .method = "PUT", .target = "/up", .body_len = BODY, .read_body = read_x, .context = &taken};
  struct server server;
  struct fetch_answer answer;
  start(&server, rows, 1);
  struct fetch *fetch = open_client(&server, "t");
  assert_int_equal(fetch_call(fetch, &call, &answer), 0);
  assert_int_equal(taken, BODY);
  fetch_answer_fini(&answer);
  fetch_close(fetch);
  const char *body = strstr(server.seen, "\r\n\r\n");
  assert_non_null(strstr(server.seen, "Content-Length: 300000\r\n"));
  assert_non_null(body);
  pthread_join(server.thread, NULL);
  assert_int_equal(strspn(body + 4, "x"), BODY);
  close(server.fd);
  free(server.seen);
}

/* 64 MiB do not fit into any socket's buffers: the answer must be met while they go out. */
static void a_refusal_in_mid_upload_is_heard(void **state) {
  (void)state;
  static const struct row rows[] = {
      {.answers = {
           "HTTP/1.1 401 Unauthorized\r\nConnection: close\r\nContent-Length: 2\r\n\r\nno"}}};
  uint64_t taken = 0;
  const struct fetch_call call = {.method = "PUT",
                                  .target = "/up",
                                  .body_len = UINT64_C(64) << 30,
                                  .read_body = read_x,
                                  .context = &taken};
  struct server server;
  struct fetch_answer answer;
  start(&server, rows, 1);
  struct fetch *fetch = open_client(&server, "t");
  assert_int_equal(fetch_call(fetch, &call, &answer), 0);
  assert_int_equal(answer.status, 401);
  assert_true(taken < call.body_len);
  fetch_answer_fini(&answer);
  fetch_close(fetch);
  stop(&server);
}

static void who_answers_nothing_is_given_up(void **state) {
  (void)state;
  static const struct row rows[] = {{.answers = {OK_4 "body"}, .read_bytes = REQUEST_BYTES}};
  const struct fetch_call idle = {.method = "GET", .target = "/", .idle_ms = 50};
  const struct fetch_call total = {.method = "GET", .target = "/", .total_ms = 50};
  struct server server;
  struct fetch_answer answer;
  for (int i = 0; i < 2; i++) {
    start(&server, rows, 1);
    struct fetch *fetch = open_client(&server, NULL);
    assert_int_equal(fetch_call(fetch, i == 0 ? &idle : &total, &answer), -ETIMEDOUT);
    fetch_close(fetch);
    stop(&server);
  }
}

static void a_token_is_not_sent_where_others_read_it(void **state) {
  (void)state;
  struct fetch_server to = {.token = "secret"};
  struct fetch *fetch = NULL;
  char why[FETCH_WHY_BYTES];
  assert_int_equal(url_parse("http://10.0.0.5:7480", &to.url, why, sizeof why), 0);
  assert_int_equal(fetch_open(&to, &fetch, why, sizeof why), -EPERM);
  assert_int_equal(url_parse("http://127.0.0.1:7480", &to.url, why, sizeof why), 0);
  to.token = "secret\r\nX: y";
  assert_int_equal(fetch_open(&to, &fetch, why, sizeof why), -EBADMSG);
}

/* localhost is ::1 first, as on most machines. */
int __real_getaddrinfo(const char *host, const char *port, const struct addrinfo *hints,
                       struct addrinfo **ret);
int __wrap_getaddrinfo(const char *host, const char *port, const struct addrinfo *hints,
                       struct addrinfo **ret);
int __wrap_getaddrinfo(const char *host, const char *port, const struct addrinfo *hints,
                       struct addrinfo **ret) {
  if (strcmp(host, "localhost") != 0) return __real_getaddrinfo(host, port, hints, ret);
  int failure = __real_getaddrinfo("::1", port, hints, ret);
  return failure != 0 ? failure : __real_getaddrinfo("127.0.0.1", port, hints, &(*ret)->ai_next);
}

static void localhost_is_found_where_the_server_listens(void **state) {
  (void)state;
  static const struct row rows[] = {{.answers = {OK_4 "body"}}};
  const struct fetch_call call = {.method = "GET", .target = "/"};
  struct server server;
  struct fetch_answer answer;
  start(&server, rows, 1);
  char url[64];
  snprintf(url, sizeof url, "http://localhost%s", strrchr(server.url, ':'));
  memcpy(server.url, url, sizeof url);
  struct fetch *fetch = open_client(&server, NULL);
  assert_int_equal(fetch_call(fetch, &call, &answer), 0);
  fetch_answer_fini(&answer);
  fetch_close(fetch);
  stop(&server);
}

int main(void) {
  signal(SIGPIPE, SIG_IGN);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_answer_comes_whole),
      cmocka_unit_test(one_connection_serves_many_calls_and_a_lost_one_is_made_anew),
      cmocka_unit_test(chunks_and_bodies_without_end_are_read),
      cmocka_unit_test(what_is_cut_short_or_too_long_is_no_answer),
      cmocka_unit_test(a_refusal_without_end_takes_little_memory_and_is_a_refusal),
      cmocka_unit_test(a_body_goes_out_in_pieces),
      cmocka_unit_test(a_refusal_in_mid_upload_is_heard),
      cmocka_unit_test(who_answers_nothing_is_given_up),
      cmocka_unit_test(a_token_is_not_sent_where_others_read_it),
      cmocka_unit_test(localhost_is_found_where_the_server_listens),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
