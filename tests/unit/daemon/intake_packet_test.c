/* SPDX-License-Identifier: Apache-2.0 */
/* A program's labels contain its real user, whatever the program claims. */
#include "daemon/intake_packet.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct intake_request request;

static const char *sign(const char *labels, uint32_t uid) {
  memset(request.labels, 'x', sizeof request.labels);
  snprintf(request.labels, sizeof request.labels, "%s", labels);
  intake_packet_sign(&request, uid);
  return request.labels;
}

static void the_users_number_comes_first(void **state) {
  (void)state;
  assert_string_equal(sign("", 0), "uid=0");
  assert_string_equal(sign("rack=7\nzone=a", 4294967295U), "uid=4294967295\nrack=7\nzone=a");
}

static void nobody_says_it_himself(void **state) {
  (void)state;
  assert_string_equal(sign("uid=0", 7), "uid=7");
  assert_string_equal(sign("a=1\nuid=0\n\nuid=\nuids=2", 7), "uid=7\na=1\n\nuids=2");
}

static void what_finds_no_room_is_left_out_whole(void **state) {
  (void)state;
  char labels[INTAKE_LABELS_BYTES];
  memset(labels, 'b', sizeof labels - 1);
  labels[sizeof labels - 1] = '\0';
  memcpy(labels, "a=1\nb=", 6);
  assert_string_equal(sign(labels, 65534), "uid=65534\na=1");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_users_number_comes_first),
      cmocka_unit_test(nobody_says_it_himself),
      cmocka_unit_test(what_finds_no_room_is_left_out_whole),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
