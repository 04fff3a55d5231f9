/* SPDX-License-Identifier: Apache-2.0 */
/* Issues a board's next certificate. */
#ifndef INGEST_RENEWAL_H
#define INGEST_RENEWAL_H

struct access;
struct ca;
struct job;
struct quotas;

/* Processes a JOB_RENEW: sets its outcome and, when done, its `renewed`. QUOTAS (NULL: none) limit
   the renewals of a board. Blocks: not on the loop. */
void renewal_run(struct access *access, struct ca *ca, struct quotas *quotas, struct job *job);

#endif
