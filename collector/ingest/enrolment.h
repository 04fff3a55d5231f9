/* SPDX-License-Identifier: Apache-2.0 */
/* A token and a request -> a certificate. */
#ifndef INGEST_ENROLMENT_H
#define INGEST_ENROLMENT_H

struct access;
struct ca;
struct job;

/* Works on a JOB_ENROLL: sets its outcome and, when done, its `enrolled`.  Blocks: not on the
   loop. */
void enrolment_run(struct access *access, struct ca *ca, struct job *job);

#endif
