/* SPDX-License-Identifier: Apache-2.0 */
/* A collector that was built without its page sends nobody to one.  What `-DWITH_WEB=OFF` embeds
   stands here in the place of the page (the linker takes the first `assets` that it meets). */
#include "http/assets.h"
#include "http/http.h"

#include <event2/event.h>
#include <event2/thread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static const unsigned char index_bytes[] = "built without its page";
const struct asset assets[] = {
    {"/", "text/html; charset=utf-8", "\"0\"", index_bytes, sizeof index_bytes - 1}};
const size_t assets_count = 1;

static void it_names_its_api_and_no_page(void **state) {
  (void)state;
  char error[256] = "", wanted[128];
  struct http *http = NULL;
  evthread_use_pthreads();
  const struct http_parts parts = {.loop = event_base_new(), .address = "127.0.0.1:0"};
  assert_int_equal(http_start(&parts, &http, error, sizeof error), 0);
  snprintf(wanted, sizeof wanted, "%sapi/v1/", http_url(http));
  assert_string_equal(http_page_url(http), wanted);
  assert_int_equal(http_stop(http), 0);
  event_base_free(parts.loop);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(it_names_its_api_and_no_page)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
