/* SPDX-License-Identifier: Apache-2.0 */
/* Issues a certificate for a token and a request. */
#ifndef INGEST_ENROLMENT_H
#define INGEST_ENROLMENT_H

struct access;
struct ca;
struct job;

/* Processes a JOB_ENROLL: sets its outcome and, when done, its `enrolled`. Blocks: not on the
   loop. */
void enrolment_run(struct access *access, struct ca *ca, struct job *job);

#endif
