/* SPDX-License-Identifier: Apache-2.0 */
#include "server_fixture.h"

#include "common/clock.h"
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
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>

struct http_parts parts;
struct http *http;
static char dir[64];
static pthread_t loop_thread;
static unsigned short port;

static void *run_loop(void *arg) {
  (void)arg;
  event_base_loop(parts.loop, EVLOOP_NO_EXIT_ON_EMPTY);
  return NULL;
}

int start_server(void **state) {
  (void)state;
  char error[256] = "";
  signal(SIGPIPE, SIG_IGN);
  snprintf(dir, sizeof dir, "/tmp/http-test-XXXXXX");
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
  return pthread_create(&loop_thread, NULL, run_loop, NULL);
}

int stop_server(void **state) {
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

int connect_to_server(void) {
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
  return fd;
}

void send_all(int fd, const void *bytes, size_t len) {
  for (size_t sent = 0; sent < len;) {
    ssize_t n = send(fd, (const char *)bytes + sent, len - sent, MSG_NOSIGNAL);
    if (n <= 0) return;
    sent += (size_t)n;
  }
}

bool read_all(int fd, struct buf *ret) {
  char bytes[4096];
  for (;;) {
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    if (poll(&ready, 1, 5000) != 1) return false;
    ssize_t n = recv(fd, bytes, sizeof bytes, 0);
    if (n <= 0) return n == 0;
    buf_append(ret, bytes, (size_t)n);
  }
}

char *talk(const char *text, size_t len, struct buf *answer) {
  int fd = connect_to_server();
  send_all(fd, text, len);
  buf_clear(answer);
  bool is_closed = read_all(fd, answer);
  close(fd);
  if (!is_closed) print_error("not closed after: %.200s\n", text);
  assert_true(is_closed);
  return buf_text(answer);
}

void make_token(enum role role, unsigned seconds, char ret[ACCESS_TOKEN_BYTES]) {
  const uint8_t fingerprint[32] = {0};
  assert_int_equal(
      access_token_make(parts.access, role, NULL, seconds * NS_PER_SECOND, fingerprint, ret), 0);
}
