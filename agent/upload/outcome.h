/* SPDX-License-Identifier: Apache-2.0 */
/* What became of an upload, for programs. */
#ifndef UPLOAD_OUTCOME_H
#define UPLOAD_OUTCOME_H

struct upload;

/* Writes one object to stdout: each file that was found and what was decided of it, and the sums.
   Returns 0 or -errno. */
int outcome_write(const struct upload *upload);

#endif
