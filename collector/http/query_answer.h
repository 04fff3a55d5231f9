/* SPDX-License-Identifier: Apache-2.0 */
/* Common code of routes that read samples. */
#ifndef HTTP_QUERY_ANSWER_H
#define HTTP_QUERY_ANSWER_H

#include "query/query.h"
#include "request.h"
#include "selection.h"

/* Shorter than a connection's wait for an answer (2 minutes): the query itself ends, and frees the
   thread for the next query. */
enum { QUERY_SECONDS_MAX = 110 };

struct query_source query_answer_source(const struct request *request);

/* Returns the cutoff of REQUEST: its time limit and its abandonment. */
const struct cutoff *query_answer_cutoff(struct request *request);

/* Returns the query range of SELECTION, with that cutoff. */
struct query_range query_answer_range(struct request *request, const struct selection *selection);

/* Reads the selection of REQUEST. Returns 0 with RET, to be ended by selection_fini; or -EINVAL,
   with the problem as REQUEST's answer. */
int query_answer_select(struct request *request, struct selection *ret);

/* Turns ERROR, a query's result, into a problem as REQUEST's answer. Does nothing if ERROR is 0. */
void query_answer_end(struct request *request, int error);

/* Makes REQUEST's answer by its route, within a query's memory limit (for monitoring requests, an
   eighth of it). If an allocation was refused, the answer is a problem, since an answer without
   some names can look complete. Returns the peak memory in bytes. */
size_t query_answer_make(struct request *request);

/* Answers that the query exceeded its memory limit, with ADVICE. */
void query_answer_no_memory(struct request *request, const char *advice);

/* Answers that no sample of the selection has a label BY. NEAREST is the most similar label ("":
   none). */
void query_answer_no_label(struct request *request, const char *by, const char *nearest);

/* Answers that the selection has no FUNCTION, and lists COUNT similar names, NEAR. */
void query_answer_no_function(struct request *request, const char *function,
                              const char *const *near, unsigned count);

#endif
