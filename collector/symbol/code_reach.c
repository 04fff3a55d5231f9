/* SPDX-License-Identifier: Apache-2.0 */
/* An assembler function may have a symbol without a size and no call frame information. All code up
   to the next symbol would be attributed to it. In a stripped file that code belongs to other
   functions, which have no names. So its instructions are followed: code unreachable from its start
   is not its own.

     work: ... jne 1f ... ret | 1: ... jmp work | (padding) | other: ... ret

   Calls return, and may also lead to parts of the function. Jumps by a register or a table may lead
   anywhere, so a function with such a jump keeps all code up to the next symbol. So does a function
   of an unsupported CPU. Where the symbols of a file are complete, padding alone does not start
   another function: assembler functions may have more entries than the named one.

   A symbol without a type may mark a place (`text_start:`) before an aligned function. Then only
   padding follows it, and it is not a function. */
#include "code_reach.h"

#include "tables/elf_image.h"
#include "tables/function_starts.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>

enum {
  ALIGNED = 16, /* where compilers and assemblers put functions */
  SWEEPS_MAX = 32,
  BYTES_MAX = 32 << 20, /* of code to follow in a file */
  LONGEST_PAD = 15,
};

enum { UNSEEN, REACHED, FOLLOWED };

struct code_reach {
  struct elf_image image;
  const struct instruction_cpu *cpu;
  bool is_whole;
  size_t bytes_left;
};

/* The code to follow. */
struct walk {
  const struct instruction_cpu *cpu;
  struct span code;
  uint64_t start;
  uint8_t *states; /* one for each byte */
  uint64_t end;    /* of the reached code, from START */
  bool is_wild;    /* it may continue anywhere */
  bool is_whole;   /* as in struct code_reach */
};

int code_reach_open(struct span file, bool is_whole, struct code_reach **ret) {
  struct elf_image image;
  *ret = NULL;
  if (elf_image_open(file, &image) != 0) return 0;
  if (image.machine != EM_X86_64 && image.machine != EM_AARCH64) return 0;
  const struct instruction_cpu *cpu = function_starts_cpu(&image, false);
  if (cpu == NULL) return 0;
  struct code_reach *reach = calloc(1, sizeof *reach);
  if (reach == NULL) return -ENOMEM;
  *reach = (struct code_reach){image, cpu, is_whole, BYTES_MAX};
  *ret = reach;
  return 0;
}

void code_reach_close(struct code_reach *reach) {
  free(reach);
}

/* ---- padding ---- */

/* Returns the length of a long NOP at the head of CODE (prefixes, 0f 1f and its operand), or 0. */
static size_t long_nop(struct span code) {
  size_t at = 0;
  while (at < code.len && (code.data[at] == 0x66 || code.data[at] == 0x2e)) at++;
  if (at < code.len && at > 0 && code.data[at] == 0x90) return at + 1;
  if (code.len - at < 3 || code.data[at] != 0x0f || code.data[at + 1] != 0x1f) return 0;
  uint8_t form = code.data[at + 2], mode = form >> 6;
  size_t len = at + 3 + ((form & 7) == 4) + (mode == 1 ? 1U : mode == 2 ? 4U : 0U);
  return len <= LONGEST_PAD && len <= code.len ? len : 0;
}

/* Returns the length of the padding at the head of CODE, or 0 if there is none. */
static size_t pad_len(const struct instruction_cpu *cpu, struct span code) {
  static const uint8_t nop_aarch64[] = {0x1f, 0x20, 0x03, 0xd5}, zeros[4];
  if (cpu->machine != EM_X86_64) {
    bool is_pad = code.len >= 4 &&
                  (memcmp(code.data, nop_aarch64, 4) == 0 || memcmp(code.data, zeros, 4) == 0);
    return is_pad ? 4 : 0;
  }
  if (code.len == 0) return 0;
  uint8_t first = code.data[0];
  return first == 0x90 || first == 0xcc || first == 0 ? 1 : long_nop(code);
}

/* Returns the code from AT on. AT must not be past the end. */
static struct span code_from(const struct walk *walk, uint64_t at) {
  return span_of(walk->code.data + at, walk->code.len - (size_t)at);
}

static uint64_t skip_padding(const struct walk *walk, uint64_t at) {
  size_t len;
  while (at < walk->code.len && (len = pad_len(walk->cpu, code_from(walk, at))) > 0) at += len;
  return at;
}

/* ---- control flow ---- */

static void reach(struct walk *walk, uint64_t at) {
  if (at >= walk->code.len || walk->states[at] != UNSEEN) return;
  walk->states[at] = REACHED;
}

/* A jump through a word of memory, usually of the table that the dynamic linker fills, leaves the
 * function. */
static bool is_tail_call(const struct walk *walk, uint64_t at) {
  const uint8_t *code = walk->code.data + at;
  return walk->cpu->machine == EM_X86_64 && walk->code.len - at >= 6 && code[0] == 0xff &&
         code[1] == 0x25;
}

static void follow(struct walk *walk, uint64_t at) {
  struct instruction in = {.bytes = 0};
  walk->states[at] = FOLLOWED;
  walk->cpu->decode(code_from(walk, at), walk->start + at, &in);
  uint64_t next = at + in.bytes;
  if (next > walk->end) walk->end = next;
  bool leads = in.flow == FLOW_BRANCH || in.flow == FLOW_JUMP || in.flow == FLOW_CALL;
  if (leads && in.target >= walk->start) reach(walk, in.target - walk->start);
  bool is_unknown = in.flow == FLOW_TABLE || in.flow == FLOW_AWAY;
  if (is_unknown && (walk->is_whole || !is_tail_call(walk, at))) walk->is_wild = true;
  if (in.flow == FLOW_ON || in.flow == FLOW_BRANCH || in.flow == FLOW_CALL || in.condition != 0)
    reach(walk, next);
}

/* Follows all paths from the start. */
static void follow_all(struct walk *walk) {
  bool is_more = true;
  reach(walk, 0);
  for (unsigned sweep = 0; is_more && sweep < SWEEPS_MAX; sweep++) {
    is_more = false;
    for (uint64_t at = 0; at < walk->code.len && !walk->is_wild; at++) {
      if (walk->states[at] != REACHED) continue;
      follow(walk, at);
      is_more = true;
    }
  }
  if (is_more) walk->is_wild = true;
}

static uint64_t find_end(const struct code_reach *reach, struct walk *walk, bool is_mark,
                         uint64_t *ret_next) {
  uint64_t len = walk->code.len, first = skip_padding(walk, 0);
  *ret_next = len;
  if (is_mark && !reach->is_whole && first > 0 && walk->start % ALIGNED != 0 &&
      (walk->start + first) % ALIGNED == 0) {
    *ret_next = first;
    return first;
  }
  follow_all(walk);
  if (walk->is_wild || walk->end >= len) return len;
  uint64_t next = skip_padding(walk, walk->end);
  if (next >= len || (reach->is_whole && (walk->start + next) % ALIGNED != 0)) return len;
  *ret_next = next;
  return walk->end;
}

uint64_t code_reach_end(void *context, uint64_t start, uint64_t end, bool is_mark,
                        uint64_t *ret_next) {
  struct code_reach *reach = context;
  struct span code = elf_image_at(&reach->image, start);
  uint64_t bytes = end - start;
  *ret_next = end;
  if (bytes > code.len || bytes > reach->bytes_left || start % reach->cpu->step != 0) return end;
  reach->bytes_left -= (size_t)bytes;
  struct walk walk = {.cpu = reach->cpu,
                      .code = span_of(code.data, (size_t)bytes),
                      .start = start,
                      .is_whole = reach->is_whole,
                      .states = calloc((size_t)bytes + 1, 1)};
  if (walk.states == NULL) return end;
  uint64_t next, len = find_end(reach, &walk, is_mark, &next);
  free(walk.states);
  *ret_next = start + next;
  return start + len;
}
