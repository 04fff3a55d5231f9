/* SPDX-License-Identifier: Apache-2.0 */
/* A script reads stderr line by line, and a terminal obeys what it gets.  The words that are
   repeated in a complaint are somebody's: file names and options with a line end or an escape
   sequence in them, a name in the wrong encoding.  So each complaint is made whole first, every
   byte that is no text becomes a '?', and it goes out as one line. */
#include "complaint.h"

#include "common/text.h"
#include "patience.h"

#include <stdio.h>

void complaint_list(const char *format, va_list values) {
  char text[COMPLAINT_BYTES];
  vsnprintf(text, sizeof text, format, values);
  text_show(text);
  patience_clear();
  fprintf(stderr, "fleetprof: %s\n", text);
}

void complaint(const char *format, ...) {
  va_list values;
  va_start(values, format);
  complaint_list(format, values);
  va_end(values);
}
