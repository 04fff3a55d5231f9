/* SPDX-License-Identifier: Apache-2.0 */
/* A log of who was let in and who was not, one line each, kept within bounds. */
#ifndef IDENTITY_AUDIT_H
#define IDENTITY_AUDIT_H

/* Appends "TIME SUBJECT: WHAT" to PATH; at AUDIT_BYTES_MAX the file becomes PATH.1 and a new one
   begins.  Control characters are written as '?'.  Returns 0 or -errno.  Any thread, and several
   processes at once. */
int audit_append(const char *path, const char *subject, const char *what);

#endif
