/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and checks the parameters that most routes share (match, from, to, type, limit). */
#ifndef HTTP_SELECTION_H
#define HTTP_SELECTION_H

#include <stdbool.h>
#include <stdint.h>

struct parameters;
struct selector;

enum { SELECTION_LIMIT_DEFAULT = 100, SELECTION_LIMIT_MAX = 100000 };

struct selection {
  struct selector *selector; /* NULL: all samples */
  uint64_t from_ms, to_ms;
  uint32_t types; /* of samples: one bit each */
  uint32_t limit;
  bool has_limit, has_range; /* limit, or from or to, were given */
};

struct selection_fault {
  const char *parameter;
  char detail[256];
};

/* Reads PARAMETERS relative to NOW_NS. Returns 0 with RET, to be ended by selection_fini; or
   -EINVAL with FAULT. Any thread. */
int selection_parse(const struct parameters *parameters, uint64_t now_ns, struct selection *ret,
                    struct selection_fault *fault);

/* The same for one side of a comparison: SIDE ("a") replaces match, and SIDE_from and SIDE_to
   replace from and to. If one is absent, match, from or to is its default. Sets has_range if
   SIDE_from or SIDE_to is given. */
int selection_parse_side(const struct parameters *parameters, const char *side, uint64_t now_ns,
                         struct selection *ret, struct selection_fault *fault);
void selection_fini(struct selection *selection);

/* Reads TEXT as a whole number of at most MAX.  Returns 0 or -EINVAL.  Any thread. */
int selection_parse_count(const char *text, uint64_t max, uint64_t *ret);

#endif
