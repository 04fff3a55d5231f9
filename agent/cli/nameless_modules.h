/* SPDX-License-Identifier: Apache-2.0 */
/* Finds modules of an answer that have functions without names, and explains why. */
#ifndef CLI_NAMELESS_MODULES_H
#define CLI_NAMELESS_MODULES_H

struct api;
struct buf;
struct cJSON;

enum { NAMELESS_MODULES_MAX = 3 }; /* reported modules at most */

struct nameless_module {
  const char *name; /* as in rows; borrowed from the answer */
  double share;     /* part of all, in self time of its functions without names */
};

/* Finds in RET the heaviest modules of ANSWER (top or tree) with at least 1 % in unnamed functions.
   Returns their number. */
unsigned nameless_modules_find(const struct cJSON *answer,
                               struct nameless_module ret[NAMELESS_MODULES_MAX]);

/* Appends a line about MODULE to RET: the reason in KNOWN (the answer of /api/v1/debug, or NULL),
   and how to upload debug files. */
void nameless_modules_explain(const struct nameless_module *module, const struct cJSON *known,
                              struct buf *ret);

/* Finds and explains the modules of ANSWER.  Queries the collector of API once, if there are
   any. */
void nameless_modules_print(const struct api *api, const struct cJSON *answer, struct buf *ret);

#endif
