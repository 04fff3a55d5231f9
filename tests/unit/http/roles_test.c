/* SPDX-License-Identifier: Apache-2.0 */
/* docs/roles.md is what the server does: each route of the table is asked for by each sort of
   visitor, over real sockets, and the answer compared with the page, row by row. */
#include "common/buf.h"
#include "common/clock.h"
#include "http/http.h"
#include "http/routes.h"
#include "identity/ca.h"
#include "names/debug_store.h"
#include "names/source_store.h"
#include "names/symbolizer.h"
#include "store/store.h"

#include <arpa/inet.h>
#include <event2/event.h>
#include <event2/thread.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

enum { VISITORS = 8, ROW_BYTES = 256, PAGE_BYTES = 64 << 10 };

static char dir[64];
static struct http_parts parts;
static struct http *http;
static pthread_t loop_thread;
static unsigned short port;
static char visitors[VISITORS][ACCESS_TOKEN_BYTES + 64]; /* the field that each shows */
static char page[PAGE_BYTES];

static void *run_loop(void *arg) {
  (void)arg;
  event_base_loop(parts.loop, EVLOOP_NO_EXIT_ON_EMPTY);
  return NULL;
}

/* The columns of the page, from the left. */
static int make_visitors(void) {
  static const enum role roles[] = {ROLE_ENROLL, ROLE_READ, ROLE_SYMBOLS, ROLE_INGEST, ROLE_ADMIN};
  const uint8_t fingerprint[32] = {0};
  char token[ACCESS_TOKEN_BYTES];
  snprintf(visitors[1], sizeof visitors[1], "X-Forwarded-For: 192.0.2.1\r\n");
  for (size_t i = 0; i < sizeof roles / sizeof *roles; i++) {
    if (access_token_make(parts.access, roles[i], NULL, 600 * NS_PER_SECOND, fingerprint, token))
      return -1;
    snprintf(visitors[2 + i], sizeof visitors[0], "Authorization: Bearer %s\r\n", token);
  }
  if (access_token_make(parts.access, ROLE_ADMIN, NULL, 0, fingerprint, token)) return -1;
  snprintf(visitors[7], sizeof visitors[0], "Authorization: Bearer %s\r\n", token);
  return 0;
}

static int read_page(void) {
  FILE *file = fopen(TEST_DATA "/../docs/roles.md", "re");
  if (file == NULL) return -1;
  page[fread(page, 1, sizeof page - 1, file)] = '\0';
  return fclose(file);
}

static int set_up(void **state) {
  (void)state;
  char error[256] = "";
  signal(SIGPIPE, SIG_IGN);
  snprintf(dir, sizeof dir, "/tmp/http-roles-XXXXXX");
  if (mkdtemp(dir) == NULL) return -1;
  int failed = debug_store_open(dir, &parts.debug, error, sizeof error) ||
               symbolizer_open(parts.debug, &parts.symbolizer, error, sizeof error) ||
               source_store_open(dir, &parts.sources, error, sizeof error) ||
               store_open(dir, &parts.store, error, sizeof error) ||
               access_open(dir, &parts.access, error, sizeof error) ||
               ca_open(dir, &parts.ca, error, sizeof error);
  evthread_use_pthreads();
  parts.loop = event_base_new();
  parts.address = "127.0.0.1:0";
  if (!failed) failed = http_start(&parts, &http, error, sizeof error);
  if (failed) print_error("%s\n", error);
  if (failed || sscanf(http_url(http), "http://127.0.0.1:%hu/", &port) != 1) return -1;
  if (make_visitors() != 0 || read_page() != 0) return -1;
  return pthread_create(&loop_thread, NULL, run_loop, NULL);
}

static int tear_down(void **state) {
  (void)state;
  char command[96];
  event_base_loopbreak(parts.loop);
  pthread_join(loop_thread, NULL);
  assert_int_equal(http_stop(http), 0);
  event_base_free(parts.loop);
  symbolizer_close(parts.symbolizer);
  debug_store_close(parts.debug);
  source_store_close(parts.sources);
  store_close(parts.store);
  access_close(parts.access);
  ca_close(parts.ca);
  snprintf(command, sizeof command, "rm -rf %s", dir);
  return system(command);
}

/* Returns the status of the answer to TEXT. */
static int ask(const char *text) {
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
  char answer[4096];
  int status = 0;
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
  assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
  struct pollfd ready = {.fd = fd, .events = POLLIN};
  ssize_t got = poll(&ready, 1, 5000) == 1 ? recv(fd, answer, sizeof answer - 1, 0) : 0;
  if (got > 0) answer[got] = '\0';
  if (got <= 0 || sscanf(answer, "HTTP/1.1 %d", &status) != 1) fail_msg("no answer to %s", text);
  close(fd);
  return status;
}

/* Writes PATH with something in place of its brace. */
static void fill_path(const char *path, char *ret, size_t len) {
  const char *open = strchr(path, '{'), *end = open ? strchr(open, '}') + 1 : NULL;
  if (open == NULL)
    snprintf(ret, len, "%s", path);
  else
    snprintf(ret, len, "%.*s%s%s", (int)(open - path), path,
             open[1] == '+' ? "abcdef/debuginfo" : "abcdef", end);
}

/* Writes what each visitor gets from ROUTE, as the page has it. */
static void walk(const struct route *route, char row[ROW_BYTES]) {
  char path[128], request[4096];
  fill_path(route->path, path, sizeof path);
  int len = snprintf(row, ROW_BYTES, "| %s %s |", route->method, route->path);
  for (int i = 0; i < VISITORS; i++) {
    snprintf(request, sizeof request,
             "%s %s HTTP/1.1\r\nHost: localhost\r\n%s%sConnection: close\r\n\r\n", route->method,
             path, visitors[i], strcmp(route->method, "PUT") == 0 ? "Content-Length: 0\r\n" : "");
    int status = ask(request);
    char word[16];
    snprintf(word, sizeof word, "%d", status);
    bool is_refused = status == 401 || status == 403;
    len += snprintf(row + len, ROW_BYTES - (size_t)len, " %s |", is_refused ? word : "yes");
  }
  snprintf(row + len, ROW_BYTES - (size_t)len, "\n");
}

static void every_route_does_for_every_role_what_the_page_says(void **state) {
  (void)state;
  unsigned wrong = 0;
  for (size_t i = 0; i < routes_count; i++) {
    char row[ROW_BYTES];
    walk(&routes[i], row);
    if (strstr(page, row) != NULL) continue;
    print_error("docs/roles.md lacks: %s", row);
    wrong++;
  }
  assert_int_equal(wrong, 0);
}

static void the_page_has_no_other_row(void **state) {
  (void)state;
  size_t rows = 0;
  for (const char *at = page; (at = strstr(at, "\n| ")) != NULL; at++)
    if (strncmp(at, "\n| GET ", 7) == 0 || strncmp(at, "\n| PUT ", 7) == 0 ||
        strncmp(at, "\n| HEAD ", 8) == 0)
      rows++;
  assert_int_equal(rows, routes_count);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_route_does_for_every_role_what_the_page_says),
      cmocka_unit_test(the_page_has_no_other_row),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
