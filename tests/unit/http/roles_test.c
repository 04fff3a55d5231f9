/* SPDX-License-Identifier: Apache-2.0 */
/* docs/roles.md matches the server: each route of the table is requested with each kind of
   credentials, over real sockets, and the status is compared with the page, row by row. */
#include "server_fixture.h"

#include "http/routes.h"

#include <stdlib.h>

enum { VISITORS = 8, ROW_BYTES = 256, PAGE_BYTES = 64 << 10 };

static char visitors[VISITORS][ACCESS_TOKEN_BYTES + 64]; /* the field that each shows */
static char page[PAGE_BYTES];

/* The columns of the page, from the left. */
static void make_visitors(void) {
  static const struct {
    enum role role;
    unsigned seconds;
  } tokens[] = {{ROLE_ENROLL, 600}, {ROLE_READ, 600},  {ROLE_SYMBOLS, 600},
                {ROLE_INGEST, 600}, {ROLE_ADMIN, 600}, {ROLE_ADMIN, 0}};
  snprintf(visitors[1], sizeof visitors[1], "X-Forwarded-For: 192.0.2.1\r\n");
  for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++) {
    char token[ACCESS_TOKEN_BYTES];
    make_token(tokens[i].role, tokens[i].seconds, token);
    snprintf(visitors[2 + i], sizeof visitors[0], "Authorization: Bearer %s\r\n", token);
  }
}

static int read_page(void) {
  FILE *file = fopen(TEST_DATA "/../docs/roles.md", "re");
  if (file == NULL) return -1;
  page[fread(page, 1, sizeof page - 1, file)] = '\0';
  return fclose(file);
}

static int set_up(void **state) {
  if (start_server(state) != 0) return -1;
  make_visitors();
  return read_page();
}

/* Returns the status of the answer to TEXT. */
static int ask(const char *text) {
  struct buf answer = {0};
  int status = 0;
  if (sscanf(talk(text, strlen(text), &answer), "HTTP/1.1 %d", &status) != 1)
    fail_msg("no answer to %s", text);
  buf_fini(&answer);
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

/* Writes the results of ROUTE for all roles, as a row of the page. */
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
  return cmocka_run_group_tests(tests, set_up, stop_server);
}
