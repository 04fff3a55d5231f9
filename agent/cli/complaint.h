/* SPDX-License-Identifier: Apache-2.0 */
/* Error messages on stderr. */
#ifndef CLI_COMPLAINT_H
#define CLI_COMPLAINT_H

#include <stdarg.h>

/* Prints "fleetprof: " and the formatted text as one line of at most COMPLAINT_BYTES.  Control
   characters in it are replaced. */
__attribute__((format(printf, 1, 2))) void complaint(const char *format, ...);
__attribute__((format(printf, 1, 0))) void complaint_list(const char *format, va_list values);

enum { COMPLAINT_BYTES = 8192 };

#endif
