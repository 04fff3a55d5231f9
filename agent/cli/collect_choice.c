/* SPDX-License-Identifier: Apache-2.0 */
/* stacks and pc-lr are records, which both perf and the agent can produce.  A histogram or a
   recorder is memory that the program itself writes, so only the agent can do it.

   An option that belongs to another mode is rejected, because the mistake would go unnoticed.  From
   the environment it is ignored: a nested run inherits the variables of the outer run. */
#include "collect_choice.h"

#include "ring/histogram_format.h"
#include "ring/image_format.h"
#include "ring/power_of_two.h"
#include "ring/recorder_format.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {"stacks", "pc-lr", "histogram", "recorder"};

__attribute__((format(printf, 3, 4))) static int refuse(char *error, size_t error_len,
                                                        const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(error, error_len, format, args);
  va_end(args);
  return -EINVAL;
}

/* Parses one to nine decimal digits; 0 for any other text. */
static uint32_t parse_count(const char *text) {
  uint32_t number = 0;
  size_t len = strlen(text);
  if (len == 0 || len > 9 || strspn(text, "0123456789") != len) return 0;
  for (; *text != '\0'; text++) number = number * 10 + (uint32_t)(*text - '0');
  return number;
}

/* WORD was given on the command line, not by the environment. */
static bool is_said(const char *word, const char *name) {
  return word != NULL && word != getenv(name);
}

static int parse_sizes(const struct collect_words *words, struct collect_choice *choice,
                       char *error, size_t error_len) {
  const uint32_t bins = words->bin_bytes ? parse_count(words->bin_bytes) : 0;
  const uint32_t counter = words->counter_bytes ? parse_count(words->counter_bytes) : 0;
  const uint32_t last = words->last ? parse_count(words->last) : 0;
  if (words->bin_bytes &&
      (!is_power_of_two(bins) || bins < HISTOGRAM_BIN_BYTES_MIN || bins > HISTOGRAM_BIN_BYTES_MAX))
    return refuse(error, error_len, "--bin-bytes: '%.40s' is not a power of two from %d to %d",
                  words->bin_bytes, HISTOGRAM_BIN_BYTES_MIN, HISTOGRAM_BIN_BYTES_MAX);
  if (words->counter_bytes && counter != 1 && counter != 2 && counter != 4)
    return refuse(error, error_len, "--counter-bytes: '%.40s' is not 1, 2 or 4",
                  words->counter_bytes);
  if (words->last && (last < RECORDER_VALUES_MIN || last > RECORDER_VALUES_MAX))
    return refuse(error, error_len, "--last: '%.40s' is not a number from %d to %d", words->last,
                  RECORDER_VALUES_MIN, RECORDER_VALUES_MAX);
  choice->bin_bytes = bins;
  choice->counter_bytes = counter;
  choice->last = last;
  return 0;
}

int collect_choice_parse(const struct collect_words *words, struct collect_choice *ret, char *error,
                         size_t error_len) {
  struct collect_choice choice = {RING_STACKS, 0, 0, 0};
  unsigned at = 0, count = sizeof names / sizeof *names;
  while (at < count && strcmp(names[at], words->collect) != 0) at++;
  if (at == count)
    return refuse(error, error_len,
                  "--collect: there is no '%.40s'; one of: stacks pc-lr histogram recorder",
                  words->collect);
  choice.collect = (enum ring_collect)at;
  bool has_bins = is_said(words->bin_bytes, "FLEETPROF_BIN_BYTES");
  bool has_counters = is_said(words->counter_bytes, "FLEETPROF_COUNTER_BYTES");
  if ((has_bins || has_counters) && choice.collect != RING_HISTOGRAM)
    return refuse(error, error_len, "%s: only --collect histogram has bins and counters",
                  has_bins ? "--bin-bytes" : "--counter-bytes");
  if (is_said(words->last, "FLEETPROF_LAST") && choice.collect != RING_RECORDER)
    return refuse(error, error_len, "--last: only --collect recorder keeps the last values");
  if (parse_sizes(words, &choice, error, error_len) != 0) return -EINVAL;
  *ret = choice;
  return 0;
}

bool collect_needs_agent(enum ring_collect collect) {
  return ring_has_image(collect);
}

const char *collect_name(enum ring_collect collect) {
  return names[collect];
}
