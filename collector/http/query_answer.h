/* SPDX-License-Identifier: Apache-2.0 */
/* What routes that ask the store for samples have in common. */
#ifndef HTTP_QUERY_ANSWER_H
#define HTTP_QUERY_ANSWER_H

#include "query/query.h"
#include "request.h"
#include "selection.h"

/* Less than a connection waits for an answer (2 minutes): the query hears of it, not only whoever
   asked, and the next one gets the thread. */
enum { QUERY_SECONDS_MAX = 110 };

struct query_source query_answer_source(const struct request *request);

/* When REQUEST's time is over, or nobody waits for it any more. */
const struct cutoff *query_answer_cutoff(struct request *request);

/* What SELECTION means as a range, until that. */
struct query_range query_answer_range(struct request *request, const struct selection *selection);

/* Reads the selection of REQUEST.  Returns 0 with it in RET, to be ended by selection_fini; or
   -EINVAL, with the problem as REQUEST's answer. */
int query_answer_select(struct request *request, struct selection *ret);

/* Makes ERROR, which a query returned, a problem: REQUEST's answer; nothing when it is 0. */
void query_answer_end(struct request *request, int error);

/* Makes REQUEST's answer by its route, within the memory that a query may have (what monitoring
   asks: an eighth of that).  Where any was refused the answer is that: one may look whole that
   lacks names.  Returns the most it had. */
size_t query_answer_make(struct request *request);

/* Answers that the query took more memory than it may have, and what ADVICE there is. */
void query_answer_no_memory(struct request *request, const char *advice);

/* Answers that no sample of the selection has a label BY; NEAREST may have been meant ("": none).
 */
void query_answer_no_label(struct request *request, const char *by, const char *nearest);

/* Answers that there is no FUNCTION in the selection, but COUNT ones with names NEAR it. */
void query_answer_no_function(struct request *request, const char *function,
                              const char *const *near, unsigned count);

#endif
