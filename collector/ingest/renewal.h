/* SPDX-License-Identifier: Apache-2.0 */
/* A board's certificate -> its next one. */
#ifndef INGEST_RENEWAL_H
#define INGEST_RENEWAL_H

struct access;
struct ca;
struct job;

/* Works on a JOB_RENEW: sets its outcome and, when done, its `renewed`.  Blocks: not on the loop.
 */
void renewal_run(struct access *access, struct ca *ca, struct job *job);

#endif
