/* SPDX-License-Identifier: Apache-2.0 */
/* Untrusted selectors: parsing stays in bounds and time, a rejection has a reason, and an accepted
   selector can be matched. */
#include "query/selector.h"
#include "store/store_read.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
  static const struct store_series series = {
      .label_count = 3,
      .labels = {{"board", "edge-07"}, {"service", "redis"}, {"thread", "aaaaaaaaaaaaaaaaaaaaaaa"}},
  };
  static const struct store_board board = {.name = "edge-07",
                                           .arch = "armv7l",
                                           .kernel = "5.4.0",
                                           .label_count = 1,
                                           .labels = {{"site", "north"}}};
  char *text = malloc(len + 1);
  char why[200] = "";
  struct selector *selector = NULL;
  if (text == NULL) abort();
  memcpy(text, data, len);
  text[len] = '\0';
  int error = selector_parse(text, &selector, why, sizeof why);
  if (error != 0 && (selector != NULL || why[0] == '\0')) abort();
  if (error == 0) {
    selector_matches(selector, &series);
    selector_may_match_board(selector, "edge-07");
    selector_matches_board(selector, &board);
    selector_sample_label(selector);
  }
  selector_free(selector);
  free(text);
  return 0;
}
