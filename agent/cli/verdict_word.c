/* SPDX-License-Identifier: Apache-2.0 */
/* The words are the view's; those of a later collector that are not among them claim nothing. */
#include "verdict_word.h"

#include "field.h"

#include <cjson/cJSON.h>
#include <string.h>

enum view_verdict verdict_word_of(const cJSON *row) {
  const char *text = field_text(row, "verdict");
  for (int i = VIEW_CHANGED; i <= VIEW_UNCLEAR; i++)
    if (strcmp(text, view_verdict_name((enum view_verdict)i)) == 0) return (enum view_verdict)i;
  return VIEW_UNCLEAR;
}

enum view_doubt verdict_word_doubt(const cJSON *row) {
  const char *text = field_text(row, "doubt");
  for (int i = VIEW_NO_DOUBT; i <= VIEW_UNLIKE; i++)
    if (strcmp(text, view_doubt_name((enum view_doubt)i)) == 0) return (enum view_doubt)i;
  return VIEW_NO_DOUBT;
}
