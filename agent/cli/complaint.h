/* SPDX-License-Identifier: Apache-2.0 */
/* What is wrong, on stderr. */
#ifndef CLI_COMPLAINT_H
#define CLI_COMPLAINT_H

#include <stdarg.h>

/* Prints "fleetprof: " and the text that FORMAT makes as one line, whatever control characters the
   words in it have.  Cut at COMPLAINT_BYTES. */
__attribute__((format(printf, 1, 2))) void complaint(const char *format, ...);
__attribute__((format(printf, 1, 0))) void complaint_list(const char *format, va_list values);

enum { COMPLAINT_BYTES = 8192 };

#endif
