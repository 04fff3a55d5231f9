/* SPDX-License-Identifier: Apache-2.0 */
/* A collector built without its page refers no user to the page. This test defines the assets that
   `-DWITH_WEB=OFF` embeds; the linker takes the first `assets` that it finds. */
#include "server_fixture.h"

#include "http/assets.h"

static const unsigned char index_bytes[] = "built without its page";
const struct asset assets[] = {
    {"/", "text/html; charset=utf-8", "\"0\"", index_bytes, sizeof index_bytes - 1}};
const size_t assets_count = 1;

static void it_names_its_api_and_no_page(void **state) {
  (void)state;
  char wanted[128];
  snprintf(wanted, sizeof wanted, "%sapi/v1/", http_url(http));
  assert_string_equal(http_page_url(http), wanted);
}

static void assert_gets(const char *target, const char *part) {
  char text[512];
  struct buf answer = {0};
  int len = snprintf(text, sizeof text, "GET %s HTTP/1.1\r\nHost: localhost\r\n" LAST, target);
  assert_non_null(strstr(talk(text, (size_t)len, &answer), part));
  buf_fini(&answer);
}

/* The link of a program that takes the given address for the page. */
static void an_older_programs_link_ends_where_it_is_explained(void **state) {
  (void)state;
  static const char target[] = "/api/v1/?view=profile&match=%7Bservice%3D%22x%22%7D&from=1&to=2";
  assert_gets(target, "HTTP/1.1 302 Found\r\n");
  assert_gets(target, "\r\nLocation: ../../\r\n");
  assert_gets("/", "built without its page");
  assert_gets("/api/v1/x", "HTTP/1.1 404 ");
  assert_gets("/api/v1", "HTTP/1.1 404 ");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(it_names_its_api_and_no_page),
      cmocka_unit_test(an_older_programs_link_ends_where_it_is_explained),
  };
  return cmocka_run_group_tests(tests, start_server, stop_server);
}
