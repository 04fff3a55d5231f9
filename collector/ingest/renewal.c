/* SPDX-License-Identifier: Apache-2.0 */
/* Renewal: a board requests a certificate with its present one.

   The name stays, whatever the request contains. Before the certificate expires, the key may
   change. Afterwards it must stay the same: its holder was this board when the certificate was
   signed, and an expired certificate proves nothing else. So a board that was off for a year
   reconnects without manual work, unless it was revoked or has used a newer certificate since.

   A board's renewals within a certificate's life are limited (quota.h): a request over the limit
   costs neither a signature nor a sync. Requests refused for other reasons do not count.

   Nothing is signed by a clock before 2024: the certificate would have expired for the board.

   The old certificate stays valid until the board connects with the new one (access.c), so a lost
   answer is harmless: the board requests it again. */
#include "renewal.h"

#include "common/buf.h"
#include "common/clock.h"
#include "identity/access.h"
#include "identity/ca.h"
#include "job.h"
#include "quota/quota.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static bool has_place(struct quotas *quotas, const struct ca *ca, struct job *job) {
  uint64_t life_s = ca_board_life(ca);
  if (quotas == NULL ||
      quotas_take_renewal(quotas, job->board, life_s * NS_PER_SECOND, clock_monotonic_ns()))
    return true;
  snprintf(job->why, sizeof job->why,
           "this board has had %d certificates lately, which is all it may have within the life of "
           "one (%llu s): ask later",
           QUOTA_RENEWALS_A_LIFE, (unsigned long long)life_s);
  return false;
}

static int check(struct access *access, const struct job *job, char *why) {
  const struct shown_certificate *shown = &job->certificate;
  const struct access_certificate certificate = {shown->signed_s, shown->id, shown->has_expired,
                                                 shown->root};
  uint8_t key[sizeof shown->key];
  int result = access_admit(access, job->board, &certificate, why, sizeof job->why);
  if (result == 0) result = ca_check(job->message.renew.csr, key, why, sizeof job->why);
  if (result != 0 || !shown->has_expired || memcmp(key, shown->key, sizeof key) == 0) return result;
  snprintf(why, sizeof job->why, "an expired certificate is renewed for the same key alone");
  return -EBADMSG;
}

static int sign(struct access *access, struct ca *ca, struct job *job) {
  struct buf certificate = {0}, roots = {0};
  const struct ca_request request = {job->message.renew.csr, job->board, .is_newest = true};
  int result = ca_sign(ca, &request, &certificate, job->why, sizeof job->why);
  if (result == 0) result = ca_roots(ca, &roots);
  if (result == 0) result = access_certificate(access, job->board, buf_span(&certificate));
  if (result == 0) {
    struct renewed *renewed = &job->renewed;
    renewed->certificate = job_keep(job, &certificate);
    renewed->ca = job_keep(job, &roots);
    if (renewed->ca.len == 0 || renewed->certificate.len == 0) result = -ENOMEM;
  }
  buf_fini(&certificate);
  buf_fini(&roots);
  return result;
}

static void refuse(struct access *access, struct job *job, enum refusal refusal) {
  job_refuse(job, refusal, job->why);
  access_audit_denial(access, job->board, "renewal refused: %s", job->why);
}

void renewal_run(struct access *access, struct ca *ca, struct quotas *quotas, struct job *job) {
  int result = check(access, job, job->why);
  switch (result) {
  case 0:
    break;
  case -EACCES:
    refuse(access, job, REFUSAL_REVOKED);
    return;
  case -ESTALE:
    refuse(access, job, REFUSAL_SUPERSEDED);
    return;
  case -ENOENT:
    refuse(access, job, REFUSAL_EXPIRED);
    return;
  case -EBADMSG:
    refuse(access, job, REFUSAL_REQUEST);
    return;
  default:
    break;
  }
  if (result == 0 && !has_place(quotas, ca, job)) {
    refuse(access, job, REFUSAL_RENEWALS);
    return;
  }
  if (result == 0 && clock_judged_ns() < CLOCK_PLAUSIBLE_NS) {
    job_fail(job, REFUSAL_STORE, "the collector's clock is before 2024: it signs nothing by it");
    return;
  }
  if (result == 0) result = sign(access, ca, job);
  if (result == 0) {
    access_audit_renewal(access, job->board,
                         job->certificate.has_expired ? "certificate renewed after it had expired"
                                                      : "certificate renewed");
    return;
  }
  job_fail(job, REFUSAL_STORE, "the collector cannot renew now; try again");
  access_audit_denial(access, job->board, "renewal failed: %s", strerror(-result));
}
