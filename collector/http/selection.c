/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the parameters that restrict an answer, so that `from=-1h` means the same on every route
   and every error names its parameter. `from` defaults to the last hour. Times are relative to the
   request's arrival. */
#include "selection.h"

#include "common/clock.h"
#include "parameters.h"
#include "proto/batch.h"
#include "query/selector.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char from_default[] = "-1h";

int selection_parse_count(const char *text, uint64_t max, uint64_t *ret) {
  if (*text == '\0' || strspn(text, "0123456789") != strlen(text)) return -EINVAL;
  errno = 0;
  unsigned long long value = strtoull(text, NULL, 10);
  if (errno || value > max) return -EINVAL;
  *ret = value;
  return 0;
}

__attribute__((format(printf, 3, 4))) static int
fail(struct selection_fault *fault, const char *parameter, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(fault->detail, sizeof fault->detail, format, args);
  va_end(args);
  fault->parameter = parameter;
  return -EINVAL;
}

/* The names of the parameters that select samples. */
struct naming {
  const char *match, *from, *to;
};

static int parse_time(const struct parameters *parameters, const char *name, const char *fallback,
                      uint64_t now_ns, uint64_t *ret_ms, struct selection_fault *fault) {
  const char *text = parameters_find(parameters, name);
  uint64_t time_ns;
  if (clock_parse_time(text ? text : fallback, now_ns, &time_ns) != 0)
    return fail(fault, name, "%s: \"%.64s\" is no time: give RFC 3339, Unix seconds, now, or -1h",
                name, text);
  *ret_ms = time_ns / NS_PER_MS;
  return 0;
}

static int parse_limit(const struct parameters *parameters, struct selection *selection,
                       struct selection_fault *fault) {
  const char *text = parameters_find(parameters, "limit");
  uint64_t limit = SELECTION_LIMIT_DEFAULT;
  if (text && (selection_parse_count(text, SELECTION_LIMIT_MAX, &limit) != 0 || limit == 0))
    return fail(fault, "limit", "limit: \"%.64s\" is not a number from 1 to %d", text,
                SELECTION_LIMIT_MAX);
  selection->has_limit = text != NULL;
  selection->limit = (uint32_t)limit;
  return 0;
}

static int parse_type(const struct parameters *parameters, struct selection *selection,
                      struct selection_fault *fault) {
  const char *text = parameters_find(parameters, "type");
  if (text && strcmp(text, "cpu") != 0)
    return fail(fault, "type", "type: \"%.64s\" is not collected here; there is cpu", text);
  selection->types = SAMPLE_SET_CPU;
  return 0;
}

static int parse_match(const struct parameters *parameters, const char *name,
                       struct selection *selection, struct selection_fault *fault) {
  const char *text = parameters_find(parameters, name);
  char why[192] = "";
  if (text == NULL) return 0;
  if (selector_parse(text, &selection->selector, why, sizeof why) != 0)
    return fail(fault, name, "%s: %s", name, why);
  return 0;
}

static int parse(const struct parameters *parameters, const struct naming *names, uint64_t now_ns,
                 struct selection *ret, struct selection_fault *fault) {
  struct selection selection = {0};
  int error = parse_time(parameters, names->from, from_default, now_ns, &selection.from_ms, fault);
  if (!error) error = parse_time(parameters, names->to, "now", now_ns, &selection.to_ms, fault);
  if (!error && selection.from_ms > selection.to_ms)
    error = fail(fault, names->from, "%s: is later than %s", names->from, names->to);
  if (!error) error = parse_limit(parameters, &selection, fault);
  if (!error) error = parse_type(parameters, &selection, fault);
  if (!error) error = parse_match(parameters, names->match, &selection, fault);
  if (error) return error;
  selection.has_range =
      parameters_find(parameters, names->from) || parameters_find(parameters, names->to);
  *ret = selection;
  return 0;
}

int selection_parse(const struct parameters *parameters, uint64_t now_ns, struct selection *ret,
                    struct selection_fault *fault) {
  static const struct naming names = {"match", "from", "to"};
  return parse(parameters, &names, now_ns, ret, fault);
}

/* Returns the name of the parameter SIDE END if it is given, else OTHERWISE. The name lives as long
   as PARAMETERS, so a fault may refer to it. */
static const char *given(const struct parameters *parameters, const char *side, const char *end,
                         const char *otherwise) {
  size_t len = strlen(side);
  for (unsigned i = 0; i < parameters->count; i++) {
    const char *name = parameters->rows[i].name;
    if (strncmp(name, side, len) == 0 && strcmp(name + len, end) == 0) return name;
  }
  return otherwise;
}

int selection_parse_side(const struct parameters *parameters, const char *side, uint64_t now_ns,
                         struct selection *ret, struct selection_fault *fault) {
  const struct naming names = {given(parameters, side, "", "match"),
                               given(parameters, side, "_from", "from"),
                               given(parameters, side, "_to", "to")};
  int error = parse(parameters, &names, now_ns, ret, fault);
  if (error == 0)
    ret->has_range = given(parameters, side, "_from", NULL) || given(parameters, side, "_to", NULL);
  return error;
}

void selection_fini(struct selection *selection) {
  selector_free(selection->selector);
  selection->selector = NULL;
}
