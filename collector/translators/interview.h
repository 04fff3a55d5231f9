/* SPDX-License-Identifier: Apache-2.0 */
/* One thread's translator: the process, while it stays, and one exchange with it. */
#ifndef TRANSLATORS_INTERVIEW_H
#define TRANSLATORS_INTERVIEW_H

#include "translate/answer_lines.h"
#include "translate/co_process.h"
#include "translator_pool.h"
#include "translator_rules.h"

enum {
  INTERVIEW_WHY_BYTES = 256,
  INTERVIEW_AT_END_MAX = 16384, /* addresses for one process that answers at its end */
  INTERVIEW_STAYING_MAX = 256,  /* addresses at once for one that stays */
};

struct interview {
  struct co_process process; /* pid 0: none */
  uint32_t module;           /* whom it runs for */
  uint64_t started_ns, used_ns;
  uint64_t starts; /* of processes, ever */
};

struct interview_subject {
  uint32_t module; /* its number */
  const struct translator_rule *rule;
  const struct translator_times *times;
  const char *const *variables; /* of its environment */
  const int *cancel;            /* as in struct co_talk */
};

/* Asks about QUESTION (at most as many addresses as the limits above) and sets RET in ARENA,
   starting a process where none stays that will do.  Returns 0; or, with WHY and the process ended,
   -ETIMEDOUT when it did not answer in time, -EBADMSG when its lines and the addresses do not come
   out even, -ECHILD when it ended with a status of its own, or another -errno. */
int interview_ask(struct interview *interview, const struct interview_subject *subject,
                  const struct answer_question *question, struct arena *arena, struct answer *ret,
                  char why[INTERVIEW_WHY_BYTES]);

/* Whether its process has been idle or has lived for too long. */
bool interview_is_over(const struct interview *interview, const struct translator_times *times);

/* Ends the process; fine without one. */
void interview_end(struct interview *interview);

#endif
