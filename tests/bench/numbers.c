/* SPDX-License-Identifier: Apache-2.0 */
/* The cost of numbers as text: each method of formatting and parsing, in nanoseconds a number, the
   best of RUNS runs to exclude other load. First checks that all methods agree. */
#include "common/buf.h"
#include "common/clock.h"
#include "common/number_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 20000, RUNS = 25, KINDS = 3, TEXT_BYTES = 32 };

static uint64_t numbers[KINDS][COUNT];
static const char *const kinds[KINDS] = {"counts", "weights", "addresses"};
static uint8_t out[COUNT * TEXT_BYTES];
static char texts[KINDS][COUNT][TEXT_BYTES];
static volatile uint64_t ten = 10, sink;

typedef size_t write_number(uint8_t *to, uint64_t value);
typedef uint64_t read_number(const char *text);

/* ---- writing ---- */

static size_t copy_back(uint8_t *to, const uint8_t *text, size_t len) {
  memcpy(to, text, len);
  return len;
}

static size_t by_printf(uint8_t *to, uint64_t value) {
  return (size_t)snprintf((char *)to, TEXT_BYTES, "%" PRIu64, value);
}

static size_t by_constant(uint8_t *to, uint64_t value) {
  uint8_t text[TEXT_BYTES];
  size_t at = sizeof text;
  do text[--at] = (uint8_t)('0' + value % 10);
  while ((value /= 10) > 0);
  return copy_back(to, text + at, sizeof text - at);
}

static size_t by_variable(uint8_t *to, uint64_t value) {
  uint8_t text[TEXT_BYTES];
  size_t at = sizeof text;
  uint64_t base = ten; /* the compiler must divide */
  do text[--at] = (uint8_t)('0' + value % base);
  while ((value /= base) > 0);
  return copy_back(to, text + at, sizeof text - at);
}

/* A quotient by a reciprocal is at most one too large. */
static size_t by_reciprocal(uint8_t *to, uint64_t value) {
  uint8_t text[TEXT_BYTES];
  size_t at = sizeof text;
  if (value >> 52 != 0) return by_constant(to, value); /* a double has no more bits */
  do {
    uint64_t quotient = (uint64_t)((double)value * 0.1);
    if (quotient * 10 > value) quotient--;
    text[--at] = (uint8_t)('0' + (value - quotient * 10));
    value = quotient;
  } while (value > 0);
  return copy_back(to, text + at, sizeof text - at);
}

static size_t by_pairs(uint8_t *to, uint64_t value) {
  struct buf buf = {.data = to, .cap = COUNT * TEXT_BYTES};
  number_text_decimal(value, &buf);
  return buf.len;
}

static size_t as_binary(uint8_t *to, uint64_t value) {
  memcpy(to, &value, sizeof value);
  return sizeof value;
}

static size_t hex_by_printf(uint8_t *to, uint64_t value) {
  return (size_t)snprintf((char *)to, TEXT_BYTES, "%" PRIx64, value);
}

static size_t hex_by_nibbles(uint8_t *to, uint64_t value) {
  struct buf buf = {.data = to, .cap = COUNT * TEXT_BYTES};
  number_text_hex(value, &buf);
  return buf.len;
}

/* ---- counting digits ---- */

static size_t digits_by_division(uint8_t *to, uint64_t value) {
  size_t count = 1;
  (void)to;
  while ((value /= 10) > 0) count++;
  return count;
}

static size_t digits_by_branches(uint8_t *to, uint64_t value) {
  size_t count = 1;
  (void)to;
  for (;; count += 4, value /= 10000) {
    if (value < 10) return count;
    if (value < 100) return count + 1;
    if (value < 1000) return count + 2;
    if (value < 10000) return count + 3;
  }
}

static size_t digits_without_branches(uint8_t *to, uint64_t value) {
  (void)to;
  return number_text_digits(value);
}

/* ---- reading hexadecimal ---- */

static uint64_t by_strtoull(const char *text) {
  return strtoull(text, NULL, 16);
}

static uint64_t by_ranges(const char *text) {
  uint64_t value = 0;
  for (; *text != '\0'; text++) {
    unsigned c = (uint8_t)*text;
    if (c >= '0' && c <= '9')
      value = value << 4 | (c - '0');
    else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
      value = value << 4 | ((c | 0x20) - 'a' + 10);
    else
      return 0;
  }
  return value;
}

static uint64_t by_table(const char *text) {
  uint64_t value = 0;
  return number_text_parse_hex(span_of_string(text), &value) ? value : 0;
}

/* ---- measuring ---- */

static uint64_t seed = 0x9e3779b97f4a7c15u;

static uint64_t roll(void) {
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return seed >> 16;
}

static void make_numbers(void) {
  for (size_t i = 0; i < COUNT; i++) {
    numbers[0][i] = 1 + (roll() >> (36 + roll() % 11)) % 5000; /* mostly small */
    numbers[1][i] = 1000000 + roll() % 90000000000;
    numbers[2][i] = 0x7f0000000000 + roll() % 0xffffffffff;
  }
  for (size_t kind = 0; kind < KINDS; kind++)
    for (size_t i = 0; i < COUNT; i++)
      snprintf(texts[kind][i], TEXT_BYTES, "%" PRIx64, numbers[kind][i]);
}

static double time_writing(write_number *write, const uint64_t *values) {
  uint64_t best = UINT64_MAX;
  for (int run = 0; run < RUNS; run++) {
    size_t at = 0;
    uint64_t start = clock_monotonic_ns();
    for (size_t i = 0; i < COUNT; i++) at += write(out + at, values[i]);
    uint64_t took = clock_monotonic_ns() - start;
    sink = at;
    if (took < best) best = took;
  }
  return (double)best / COUNT;
}

static double time_reading(read_number *read, char (*lines)[TEXT_BYTES]) {
  uint64_t best = UINT64_MAX;
  for (int run = 0; run < RUNS; run++) {
    uint64_t sum = 0, start = clock_monotonic_ns();
    for (size_t i = 0; i < COUNT; i++) sum += read(lines[i]);
    uint64_t took = clock_monotonic_ns() - start;
    sink = sum;
    if (took < best) best = took;
  }
  return (double)best / COUNT;
}

static const struct {
  const char *name;
  write_number *write, *like; /* LIKE: the reference; NULL: none */
} writers[] = {
    {"decimal: printf", by_printf, NULL},
    {"decimal: divisor in a variable", by_variable, by_printf},
    {"decimal: constant divisor 10", by_constant, by_printf},
    {"decimal: reciprocal in floating point", by_reciprocal, by_printf},
    {"decimal: constant divisor 100, pairs (number_text)", by_pairs, by_printf},
    {"hexadecimal: printf", hex_by_printf, NULL},
    {"hexadecimal: nibbles (number_text)", hex_by_nibbles, hex_by_printf},
    {"no text: 8 bytes", as_binary, NULL},
    {"count of digits: division", digits_by_division, NULL},
    {"count of digits: branches", digits_by_branches, digits_by_division},
    {"count of digits: no branch (number_text)", digits_without_branches, digits_by_division}};

static const struct {
  const char *name;
  read_number *read;
} readers[] = {{"reading hexadecimal: strtoull", by_strtoull},
               {"reading hexadecimal: ranges", by_ranges},
               {"reading hexadecimal: table of 256 (number_text)", by_table}};

enum {
  WRITERS = sizeof writers / sizeof *writers,
  READERS = sizeof readers / sizeof *readers,
};

static void check(uint64_t value) {
  uint8_t text[TEXT_BYTES], like[TEXT_BYTES];
  for (size_t i = 0; i < WRITERS; i++) {
    if (writers[i].like == NULL) continue;
    size_t len = writers[i].write(text, value), wanted = writers[i].like(like, value);
    bool is_text = writers[i].like != digits_by_division;
    if (len == wanted && (!is_text || memcmp(text, like, len) == 0)) continue;
    printf("%s is wrong of %" PRIu64 "\n", writers[i].name, value);
    exit(1);
  }
  snprintf((char *)text, sizeof text, "%" PRIx64, value);
  for (size_t i = 0; i < READERS; i++) {
    if (readers[i].read((const char *)text) == value) continue;
    printf("%s is wrong of %" PRIu64 "\n", readers[i].name, value);
    exit(1);
  }
}

int main(void) {
  for (uint64_t power = 1;; power *= 10) {
    for (int beside = -1; beside <= 1; beside++) check(power + (uint64_t)beside);
    if (power > UINT64_MAX / 10) break;
  }
  for (unsigned bit = 0; bit < 64; bit++)
    for (int beside = -1; beside <= 1; beside++) check(((uint64_t)1 << bit) + (uint64_t)beside);
  for (int i = 0; i < 1000000; i++) check(roll() << 16 >> roll() % 64);
  make_numbers();
  printf("| ns a number | %s | %s | %s |\n|---|---|---|---|\n", kinds[0], kinds[1], kinds[2]);
  for (size_t i = 0; i < WRITERS; i++) {
    printf("| %s", writers[i].name);
    for (size_t kind = 0; kind < KINDS; kind++)
      printf(" | %.1f", time_writing(writers[i].write, numbers[kind]));
    puts(" |");
  }
  for (size_t i = 0; i < READERS; i++) {
    printf("| %s", readers[i].name);
    for (size_t kind = 0; kind < KINDS; kind++)
      printf(" | %.1f", time_reading(readers[i].read, texts[kind]));
    puts(" |");
  }
  return 0;
}
