/* SPDX-License-Identifier: Apache-2.0 */
/* A daemon's status for people. */
#ifndef CLI_STATUS_PRINT_H
#define CLI_STATUS_PRINT_H

#include <stdio.h>

/* Prints the status in JSON, as the daemon at SOCKET gave it, to OUT as text.  Returns 0, or
   -EBADMSG when it is no JSON object. */
int status_print_text(const char *json, const char *socket, FILE *out);

#endif
