/* SPDX-License-Identifier: Apache-2.0 */
/* A script reads stderr line by line, and a terminal obeys what it gets.  The words that are
   repeated in a complaint are somebody's: file names and options with a line end or an escape
   sequence in them, a name in the wrong encoding.  So each complaint is made whole first, every
   byte that is no text becomes a '?', and it goes out as one line. */
#include "complaint.h"

#include "patience.h"
#include "proto/text.h"

#include <stdarg.h>
#include <stdio.h>

void complaint(const char *format, ...) {
  char text[COMPLAINT_BYTES];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  text_show(text);
  patience_clear();
  fprintf(stderr, "fleetprof: %s\n", text);
}
