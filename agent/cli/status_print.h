/* SPDX-License-Identifier: Apache-2.0 */
/* Prints a daemon's status as text. */
#ifndef CLI_STATUS_PRINT_H
#define CLI_STATUS_PRINT_H

#include <stdio.h>

/* Prints JSON, the status from the daemon at SOCKET, to OUT as text.  Returns 0, or -EBADMSG if it
   is not a JSON object. */
int status_print_text(const char *json, const char *socket, FILE *out);

#endif
