/* SPDX-License-Identifier: Apache-2.0 */
/* Assembler may keep its caller's frame in a register that calls need not preserve, and call its
   own helpers, which do not change it. A helper is read from its first instruction to the first
   return that no branch goes beyond. That is all code that can run, because a branch out of that
   range makes the answer false. */
#include "kept_register.h"

#include "function_starts.h"

enum {
  INSTRUCTIONS_MAX = 4096, /* of a helper; OpenSSL's largest has 700 */
  CALLS_DEEP_MAX = 2,
  CALLER_BYTES_MAX = 64 << 10,
};

struct helper {
  struct kept_code *of;
  const struct instruction_cpu *cpu;
  uint64_t start;
  uint64_t last; /* the highest offset of a branch target */
  uint64_t number;
  struct span code;
};

static bool writes(const struct instruction *in, uint64_t number) {
  for (unsigned i = 0; i < in->count; i++)
    if (in->effects[i].kind != EFFECT_STORE && in->effects[i].to == number) return true;
  return false;
}

static struct instruction decode(const struct helper *helper, uint64_t at) {
  struct instruction in = {.bytes = 0};
  helper->of->decoded++;
  struct span rest = span_of(helper->code.data + at, helper->code.len - (size_t)at);
  helper->cpu->decode(rest, helper->start + at, &in);
  return in;
}

static bool keeps(const struct helper *from, uint64_t start, unsigned deep);

/* Follows the flow of IN. Returns false if it may lead to unread code. */
static bool follow(struct helper *helper, const struct instruction *in, unsigned deep) {
  switch (in->flow) {
  case FLOW_BRANCH:
  case FLOW_JUMP:
    if (in->target < helper->start || in->target - helper->start >= helper->code.len) return false;
    if (in->target - helper->start > helper->last) helper->last = in->target - helper->start;
    return true;
  case FLOW_CALL:
    return in->target != 0 && deep < CALLS_DEEP_MAX && keeps(helper, in->target, deep + 1);
  default:
    return in->flow == FLOW_ON || in->flow == FLOW_RETURN;
  }
}

static bool keeps(const struct helper *from, uint64_t start, unsigned deep) {
  struct helper helper = {.of = from->of, .cpu = from->cpu, .number = from->number};
  helper.start = start;
  helper.code = elf_image_at(from->of->image, start);
  bool is_ending = false;
  uint64_t at = 0;
  for (unsigned i = 0; i < INSTRUCTIONS_MAX && at < helper.code.len; i++) {
    if (helper.of->decoded >= KEPT_INSTRUCTIONS_MAX) return false;
    struct instruction in = decode(&helper, at);
    bool is_delay = is_ending; /* the delay slot of a return */
    at += in.bytes;
    if (writes(&in, helper.number) || !follow(&helper, &in, deep)) return false;
    bool is_end =
        (in.flow == FLOW_RETURN || in.flow == FLOW_JUMP) && in.condition == 0 && at > helper.last;
    if (is_delay || (is_end && !in.is_delayed)) return true;
    is_ending = is_end;
  }
  return false;
}

bool kept_register(struct kept_code *code, uint64_t low, uint64_t high, uint64_t number) {
  const struct elf_image *image = code->image;
  struct helper caller = {.of = code, .start = low, .number = number};
  bool has_calls = false;
  caller.cpu = function_starts_cpu(image, false);
  caller.code = elf_image_at(image, low);
  if (caller.cpu == NULL || image->machine == EM_ARM || high - low > CALLER_BYTES_MAX) return false;
  for (uint64_t at = 0; at < high - low && at < caller.code.len;) {
    if (code->decoded >= KEPT_INSTRUCTIONS_MAX) return false;
    struct instruction in = decode(&caller, at);
    at += in.bytes;
    if (in.flow != FLOW_CALL) continue;
    has_calls = true;
    if (in.target == 0 || !keeps(&caller, in.target, 0)) return false;
  }
  return has_calls;
}
