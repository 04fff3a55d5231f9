/* SPDX-License-Identifier: Apache-2.0 */
/* An answer without the newest samples is reported as that and passes no gate; against a server of
   a few lines. */
#include "cli/commands.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define SIDE "{\"total\":100,\"samples\":100}"
#define BODY                                                                                \
  "{\"total\":100,\"samples\":100,\"a\":" SIDE ",\"b\":" SIDE ",\"basis\":{},\"tested\":1," \
  "\"functions\":[{\"name\":\"main\",\"a\":1,\"b\":1,\"difference\":0,\"verdict\":\"same\"}]}"

enum { TEXT_BYTES = 4096 };

static int listener = -1;
static const char *field; /* of the answer, with its end of line */

static void *serve(void *context) {
  static char request[TEXT_BYTES], answer[TEXT_BYTES];
  int fd = accept(listener, NULL, NULL);
  size_t len = 0;
  (void)context;
  memset(request, 0, sizeof request);
  while (strstr(request, "\r\n\r\n") == NULL && len < sizeof request - 1) {
    ssize_t got = recv(fd, request + len, sizeof request - 1 - len, 0);
    if (got <= 0) break;
    len += (size_t)got;
  }
  snprintf(answer, sizeof answer,
           "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n%sContent-Length: %zu\r\n"
           "Connection: close\r\n\r\n%s",
           field, strlen(BODY), BODY);
  send(fd, answer, strlen(answer), MSG_NOSIGNAL);
  close(fd);
  return NULL;
}

static int set_up(void **state) {
  (void)state;
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  setenv("FLEETPROF_CONFIG", "", 1);
  listener = socket(AF_INET, SOCK_STREAM, 0);
  return bind(listener, (struct sockaddr *)&at, sizeof at) != 0 || listen(listener, 4) != 0;
}

static int tear_down(void **state) {
  (void)state;
  return close(listener);
}

/* Runs COMMAND with WORDS; the answer contains FIELD. Returns its exit status, stderr in TOLD. */
static int run(int (*command)(int argc, char **argv), const char *answered,
               const char *const *words, char told[TEXT_BYTES]) {
  static char url[64];
  struct sockaddr_in at;
  socklen_t len = sizeof at;
  pthread_t server;
  char *argv[12] = {(char *)(uintptr_t) "command", (char *)(uintptr_t) "--http", url,
                    (char *)(uintptr_t) "--output", (char *)(uintptr_t) "/dev/null"};
  int argc = 5;
  assert_int_equal(getsockname(listener, (struct sockaddr *)&at, &len), 0);
  snprintf(url, sizeof url, "http://127.0.0.1:%d", ntohs(at.sin_port));
  while (*words != NULL) argv[argc++] = (char *)(uintptr_t)*words++;
  field = answered;
  FILE *file = tmpfile();
  int kept = dup(STDERR_FILENO);
  assert_true(file != NULL && dup2(fileno(file), STDERR_FILENO) == STDERR_FILENO);
  assert_int_equal(pthread_create(&server, NULL, serve, NULL), 0);
  int status = command(argc, argv);
  pthread_join(server, NULL);
  dup2(kept, STDERR_FILENO);
  close(kept);
  rewind(file);
  told[fread(told, 1, TEXT_BYTES - 1, file)] = '\0';
  fclose(file);
  return status;
}

#define STALE "Fleetprof-Stale: a backlog settles\r\n"
#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void a_gate_passes_nothing_on_old_samples(void **state) {
  char told[TEXT_BYTES];
  (void)state;
  assert_int_equal(run(diff_main, "", WORDS("a", "b", "--fail-over", "2%"), told), 0);
  assert_string_equal(told, "");
  assert_int_equal(run(diff_main, STALE, WORDS("a", "b", "--fail-over", "2%"), told), 1);
  assert_non_null(strstr(told, "without the newest samples: a backlog settles: --fail-over"));
  assert_ptr_equal(strchr(told, '\n'), told + strlen(told) - 1);
  assert_int_equal(
      run(diff_main, STALE, WORDS("a", "b", "--fail-over", "2%", "--format", "json"), told), 1);
  assert_int_equal(run(diff_main, STALE, WORDS("a", "b"), told), 0);
  assert_non_null(strstr(told, "without the newest samples: a backlog settles\n"));
}

static void a_question_is_answered_with_a_word(void **state) {
  char told[TEXT_BYTES];
  (void)state;
  assert_int_equal(run(query_main, "", WORDS("--format", "json"), told), 0);
  assert_string_equal(told, "");
  assert_int_equal(run(query_main, STALE, WORDS("--format", "json"), told), 0);
  assert_non_null(strstr(told, "without the newest samples: a backlog settles\n"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_gate_passes_nothing_on_old_samples),
      cmocka_unit_test(a_question_is_answered_with_a_word),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
