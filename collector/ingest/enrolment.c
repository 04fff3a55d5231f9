/* SPDX-License-Identifier: Apache-2.0 */
/* Enrolment: the only request of an unauthenticated peer.

   The certificate request is checked before the token, so that a board with a malformed request
   does not lose its token. The token is used up before anything is signed, so that two peers with
   one token get one certificate. Each outcome is logged.

   The board's name is from the token, or generated; the name in the request is ignored. */
#include "enrolment.h"

#include "common/buf.h"
#include "identity/access.h"
#include "identity/ca.h"
#include "job.h"

#include <errno.h>

/* Signs for BOARD, whose token is used up by now. */
static int sign(struct access *access, struct ca *ca, const char *board, struct job *job) {
  struct buf certificate = {0}, root = {0};
  const struct ca_request request = {.csr = job->message.enroll.csr, .board = board};
  int result = ca_sign(ca, &request, &certificate, job->why, sizeof job->why);
  if (result == 0) result = ca_roots(ca, &root);
  if (result == 0) result = access_certificate(access, board, buf_span(&certificate));
  if (result == 0) {
    job->enrolled = (struct enrolled){.board = arena_string(&job->arena, board, strlen(board)),
                                      .certificate = job_keep(job, &certificate),
                                      .ca = job_keep(job, &root)};
    if (job->enrolled.ca.len == 0 || job->enrolled.certificate.len == 0) result = -ENOMEM;
  }
  buf_fini(&certificate);
  buf_fini(&root);
  return result;
}

void enrolment_run(struct access *access, struct ca *ca, struct job *job) {
  const struct enroll *enroll = &job->message.enroll;
  char board[BOARD_NAME_BYTES] = "-";
  int result = ca_check(enroll->csr, NULL, job->why, sizeof job->why);
  if (result == -EBADMSG) {
    job_refuse(job, REFUSAL_REQUEST, job->why);
    access_audit_denial(access, board, "enrolment refused: %s", job->why);
    return;
  }
  if (result == 0)
    result = access_enrol(access, enroll->token, board, sizeof board, job->why, sizeof job->why);
  if (result == -EACCES && job->why[0] != 0) {
    job_refuse(job, REFUSAL_TOKEN, job->why);
    access_audit_denial(access, board, "enrolment refused: %s", job->why);
    return;
  }
  if (result == 0) result = sign(access, ca, board, job);
  if (result == 0) {
    access_audit(access, board, "enrolled");
    return;
  }
  job_fail(job, REFUSAL_STORE, "the collector cannot enrol now; try again");
  access_audit_denial(access, board, "enrolment failed: %s", strerror(-result));
}
