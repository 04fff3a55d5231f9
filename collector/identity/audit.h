/* SPDX-License-Identifier: Apache-2.0 */
/* A bounded log of access decisions, one line each. */
#ifndef IDENTITY_AUDIT_H
#define IDENTITY_AUDIT_H

/* Appends "TIME SUBJECT: WHAT" to PATH. At AUDIT_BYTES_MAX the file is renamed to PATH.1 and a new
   one started. Control characters are written as '?'. Returns 0 or -errno. Any thread, and several
   processes at once. */
int audit_append(const char *path, const char *subject, const char *what);

#endif
