/* SPDX-License-Identifier: Apache-2.0 */
/* Which modules of an answer have functions without names, and why. */
#ifndef CLI_NAMELESS_MODULES_H
#define CLI_NAMELESS_MODULES_H

struct api;
struct buf;
struct cJSON;

enum { NAMELESS_MODULES_MAX = 3 }; /* that are worth a line */

struct nameless_module {
  const char *name; /* as rows have it; borrowed of the answer */
  double share;     /* of all that its functions without a name have themselves */
};

/* Finds the heaviest of those that have a hundredth of ANSWER, a profile (top or tree), in RET.
   Returns how many there are. */
unsigned nameless_modules_find(const struct cJSON *answer,
                               struct nameless_module ret[NAMELESS_MODULES_MAX]);

/* Appends a line about MODULE to RET: what KNOWN, the answer of /api/v1/debug or NULL, says of it,
   and how debug files are sent. */
void nameless_modules_explain(const struct nameless_module *module, const struct cJSON *known,
                              struct buf *ret);

/* Both of ANSWER; asks the collector of API once, where there is something to explain. */
void nameless_modules_print(const struct api *api, const struct cJSON *answer, struct buf *ret);

#endif
