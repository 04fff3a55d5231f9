/* SPDX-License-Identifier: Apache-2.0 */
/* One thread's translator: its process, if it keeps running, and one exchange with it. */
#ifndef TRANSLATORS_INTERVIEW_H
#define TRANSLATORS_INTERVIEW_H

#include "translate/answer_lines.h"
#include "translate/co_process.h"
#include "translator_pool.h"
#include "translator_rules.h"

enum {
  INTERVIEW_WHY_BYTES = 256,
  INTERVIEW_AT_END_MAX = 16384, /* addresses for one process that answers at its end */
  INTERVIEW_STAYING_MAX = 256,  /* addresses at once for a process that keeps running */
};

struct interview {
  struct co_process process; /* pid 0: none */
  uint32_t module;           /* the module that it serves */
  uint64_t started_ns, used_ns;
  uint64_t starts; /* process starts in total */
};

struct interview_subject {
  uint32_t module; /* its number */
  const struct translator_rule *rule;
  const struct translator_times *times;
  const char *const *variables; /* for its environment */
  const int *cancel;            /* as in struct co_talk */
};

/* Sends QUESTION, within the limits above, and sets RET in ARENA. Starts a process if no suitable
   one is running. Returns 0; or, with WHY and the process ended: -ETIMEDOUT if it did not answer in
   time; -EBADMSG if the number of lines does not match the number of addresses; -ECHILD if it
   exited with a status of its own; or another -errno. */
int interview_ask(struct interview *interview, const struct interview_subject *subject,
                  const struct answer_question *question, struct arena *arena, struct answer *ret,
                  char why[INTERVIEW_WHY_BYTES]);

/* Whether its process has been idle or running for too long. */
bool interview_is_over(const struct interview *interview, const struct translator_times *times);

/* Ends the process, if any. */
void interview_end(struct interview *interview);

#endif
