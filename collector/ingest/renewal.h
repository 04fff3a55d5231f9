/* SPDX-License-Identifier: Apache-2.0 */
/* A board's certificate -> its next one. */
#ifndef INGEST_RENEWAL_H
#define INGEST_RENEWAL_H

struct access;
struct ca;
struct job;
struct quotas;

/* Works on a JOB_RENEW: sets its outcome and, when done, its `renewed`.  QUOTAS (NULL: none) say
   how many a board may have.  Blocks: not on the loop. */
void renewal_run(struct access *access, struct ca *ca, struct quotas *quotas, struct job *job);

#endif
