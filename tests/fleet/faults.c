/* SPDX-License-Identifier: Apache-2.0 */
/* The text form of faults, and the die. */
#include "faults.h"
#include "random.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 16 };

static const char *const names[FAULT_COUNT] = {
#define X(fault, name) [FAULT_##fault] = name,
    FAULTS(X)
#undef X
};

const char *faults_name(enum fault fault) {
  return names[fault];
}

static int parse_one(const char *text, size_t len, struct faults *faults) {
  char word[NAME_BYTES + 16], *end;
  if (len >= sizeof word) return -EINVAL;
  snprintf(word, sizeof word, "%.*s", (int)len, text);
  char *share = strchr(word, '=');
  if (share == NULL) return -EINVAL;
  *share++ = '\0';
  for (unsigned i = 1; i < FAULT_COUNT; i++) {
    if (strcmp(word, names[i]) != 0) continue;
    faults->shares[i] = strtod(share, &end);
    bool is_share = end != share && *end == '\0' && faults->shares[i] >= 0;
    return is_share && faults->shares[i] <= 1 ? 0 : -EINVAL;
  }
  return -EINVAL;
}

int faults_parse(const char *text, struct faults *ret) {
  struct faults faults = {0};
  double sum = 0;
  while (*text != '\0') {
    size_t len = strcspn(text, ",");
    if (parse_one(text, len, &faults) != 0) return -EINVAL;
    text += len + (text[len] == ',');
  }
  for (unsigned i = 0; i < FAULT_COUNT; i++) sum += faults.shares[i];
  if (sum > 1) return -EINVAL;
  *ret = faults;
  return 0;
}

enum fault faults_draw(const struct faults *faults, uint64_t *random) {
  double draw = random_share(random);
  for (unsigned i = 1; i < FAULT_COUNT; i++) {
    if (draw < faults->shares[i]) return (enum fault)i;
    draw -= faults->shares[i];
  }
  return FAULT_NONE;
}
