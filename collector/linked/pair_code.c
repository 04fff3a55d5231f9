/* SPDX-License-Identifier: Apache-2.0 */
/* Compilers move the cold part of a function elsewhere. Both parts count as one function here: a
   link from one part into the other points into the function. */
#include "pair_code.h"

#include <elf.h>
#include <string.h>

static const char cold[] = ".cold";

/* Returns the length of NAME up to the suffix of a moved part. */
static size_t base_len(const char *name) {
  const char *end = strstr(name, cold);
  return end != NULL ? (size_t)(end - name) : strlen(name);
}

bool pair_code_is_one_function(const char *a, const char *b) {
  size_t len = base_len(a);
  return len > 0 && len == base_len(b) && memcmp(a, b, len) == 0;
}

bool pair_code_is_cold(const char *name) {
  return strstr(name, cold) != NULL;
}

/* Whether ARCH is i386 to i686. */
static bool is_short_x86(const char *arch) {
  return arch[0] == 'i' && arch[1] != '\0' && strcmp(arch + 2, "86") == 0;
}

static enum pair_cpu cpu_by_arch(const char *arch) {
  if (arch == NULL || strcmp(arch, "x86_64") == 0 || is_short_x86(arch)) return PAIR_CPU_STACK;
  bool is_arm = strncmp(arch, "arm", 3) == 0 && strcmp(arch, "arm64") != 0;
  return is_arm ? PAIR_CPU_POPS : PAIR_CPU_JUMPS;
}

enum pair_cpu pair_code_cpu(uint32_t machine, const char *arch) {
  switch (machine) {
  case EM_NONE:
    return cpu_by_arch(arch);
  case EM_X86_64:
  case EM_386:
    return PAIR_CPU_STACK;
  case EM_ARM:
    return PAIR_CPU_POPS;
  default:
    return PAIR_CPU_JUMPS;
  }
}

enum pair_place pair_code_place(enum lr_place place) {
  static const enum pair_place places[LR_PLACES] = {[LR_UNKNOWN] = PAIR_PLACE_UNKNOWN,
                                                    [LR_HELD_BY_ROW] = PAIR_PLACE_ROW,
                                                    [LR_HELD_BY_SCAN] = PAIR_PLACE_SCAN,
                                                    [LR_LOST] = PAIR_PLACE_LOST,
                                                    [LR_TANGLED] = PAIR_PLACE_TANGLED};
  return places[place];
}

enum pair_call pair_code_call(enum lr_call call, bool is_same_module) {
  switch (call) {
  case LR_CALL_UNKNOWN:
    return PAIR_CALL_UNKNOWN;
  case LR_CALL_NONE:
    return PAIR_CALL_NONE;
  case LR_CALL_ANYWHERE:
    return PAIR_CALL_ANYWHERE;
  case LR_CALL_HERE:
    return is_same_module ? PAIR_CALL_HERE : PAIR_CALL_ELSEWHERE;
  default:
    return PAIR_CALL_ELSEWHERE;
  }
}
