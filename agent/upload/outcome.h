/* SPDX-License-Identifier: Apache-2.0 */
/* The result of an upload as JSON. */
#ifndef UPLOAD_OUTCOME_H
#define UPLOAD_OUTCOME_H

struct upload;

/* Writes one object to stdout: each file found with its verdict, and the sums.  Returns 0 or
   -errno. */
int outcome_write(const struct upload *upload);

#endif
