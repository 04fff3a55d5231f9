/* SPDX-License-Identifier: Apache-2.0 */
/* Scripts read stderr line by line, and a terminal obeys control characters.  Messages quote
   untrusted text: file names and options may contain line ends, escape sequences or wrong
   encodings.  So each message is formatted first, then every byte that is not text becomes a
   '?'. */
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
