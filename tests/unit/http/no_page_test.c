/* SPDX-License-Identifier: Apache-2.0 */
/* A collector that was built without its page sends nobody to one.  What `-DWITH_WEB=OFF` embeds
   stands here in the place of the page (the linker takes the first `assets` that it meets). */
#include "http/assets.h"
#include "http/http.h"
#include "identity/access.h"
#include "identity/ca.h"
#include "store/store.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/event.h>
#include <event2/thread.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

static const unsigned char index_bytes[] = "built without its page";
const struct asset assets[] = {
    {"/", "text/html; charset=utf-8", "\"0\"", index_bytes, sizeof index_bytes - 1}};
const size_t assets_count = 1;

static char dir[64];
static struct http_parts parts;
static struct http *http;

static int set_up(void **state) {
  (void)state;
  char error[256] = "";
  snprintf(dir, sizeof dir, "/tmp/no-page-test-XXXXXX");
  if (mkdtemp(dir) == NULL) return -1;
  int failed = store_open(dir, &parts.store, error, sizeof error) ||
               access_open(dir, &parts.access, error, sizeof error) ||
               ca_open(dir, &parts.ca, error, sizeof error);
  evthread_use_pthreads();
  parts.loop = event_base_new();
  parts.address = "127.0.0.1:0";
  if (!failed) failed = http_start(&parts, &http, error, sizeof error);
  if (failed) print_error("%s\n", error);
  return failed;
}

static int tear_down(void **state) {
  (void)state;
  char command[96];
  assert_int_equal(http_stop(http), 0);
  event_base_free(parts.loop);
  store_close(parts.store);
  access_close(parts.access);
  ca_close(parts.ca);
  snprintf(command, sizeof command, "rm -rf %s", dir);
  return system(command);
}

static void it_names_its_api_and_no_page(void **state) {
  (void)state;
  char wanted[128];
  snprintf(wanted, sizeof wanted, "%sapi/v1/", http_url(http));
  assert_string_equal(http_page_url(http), wanted);
}

/* Sends a GET of TARGET; returns all of the answer. */
static const char *get(const char *target) {
  static char answer[4096];
  char text[512];
  unsigned short port = 0;
  size_t len = 0;
  assert_int_equal(sscanf(http_url(http), "http://127.0.0.1:%hu/", &port), 1);
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
  int wanted = snprintf(text, sizeof text,
                        "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", target);
  assert_int_equal(send(fd, text, (size_t)wanted, MSG_NOSIGNAL), wanted);
  for (ssize_t n = -1; n != 0 && len < sizeof answer - 1;) {
    event_base_loop(parts.loop, EVLOOP_NONBLOCK);
    n = recv(fd, answer + len, sizeof answer - 1 - len, MSG_DONTWAIT);
    if (n > 0) len += (size_t)n;
    if (n < 0) assert_int_equal(errno, EAGAIN);
  }
  close(fd);
  answer[len] = '\0';
  return answer;
}

/* A link of a program that takes what it was told for the page. */
static void an_older_programs_link_ends_where_it_is_explained(void **state) {
  (void)state;
  const char *answer = get("/api/v1/?view=profile&match=%7Bservice%3D%22x%22%7D&from=1&to=2");
  assert_non_null(strstr(answer, "HTTP/1.1 302 Found\r\n"));
  assert_non_null(strstr(answer, "\r\nLocation: ../../\r\n"));
  assert_non_null(strstr(get("/"), "built without its page"));
  assert_non_null(strstr(get("/api/v1/x"), "HTTP/1.1 404 "));
  assert_non_null(strstr(get("/api/v1"), "HTTP/1.1 404 "));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(it_names_its_api_and_no_page),
      cmocka_unit_test(an_older_programs_link_ends_where_it_is_explained),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
