/* SPDX-License-Identifier: Apache-2.0 */
/* SipHash-2-4, written from the paper (Aumasson and Bernstein, "SipHash: a fast short-input PRF",
   2012): two rounds for each 8-byte word of input, four at the end. OpenSSL has it too, but setting
   up its context takes longer than hashing the 24 bytes of a node. A unit test compares the two. */
#include "siphash.h"

struct state {
  uint64_t v0, v1, v2, v3;
};

static uint64_t read_le64(const uint8_t *bytes) {
  uint64_t word = 0;
  for (unsigned i = 0; i < 8; i++) word |= (uint64_t)bytes[i] << (8 * i);
  return word;
}

static uint64_t rotate(uint64_t word, unsigned bits) {
  return (word << bits) | (word >> (64 - bits));
}

static void mix(struct state *s, unsigned rounds) {
  while (rounds-- > 0) {
    s->v0 += s->v1;
    s->v1 = rotate(s->v1, 13) ^ s->v0;
    s->v0 = rotate(s->v0, 32);
    s->v2 += s->v3;
    s->v3 = rotate(s->v3, 16) ^ s->v2;
    s->v0 += s->v3;
    s->v3 = rotate(s->v3, 21) ^ s->v0;
    s->v2 += s->v1;
    s->v1 = rotate(s->v1, 17) ^ s->v2;
    s->v2 = rotate(s->v2, 32);
  }
}

static void absorb(struct state *s, uint64_t word) {
  s->v3 ^= word;
  mix(s, 2);
  s->v0 ^= word;
}

uint64_t siphash(const uint8_t key[SIPHASH_KEY_BYTES], struct span bytes) {
  uint64_t k0 = read_le64(key), k1 = read_le64(key + 8);
  struct state s = {/* "somepseudorandomlygeneratedbytes", from the paper */
                    k0 ^ 0x736f6d6570736575ULL, k1 ^ 0x646f72616e646f6dULL,
                    k0 ^ 0x6c7967656e657261ULL, k1 ^ 0x7465646279746573ULL};
  size_t whole = bytes.len - bytes.len % 8;
  for (size_t i = 0; i < whole; i += 8) absorb(&s, read_le64(bytes.data + i));
  uint64_t last = (uint64_t)bytes.len << 56;
  for (size_t i = whole; i < bytes.len; i++) last |= (uint64_t)bytes.data[i] << (8 * (i - whole));
  absorb(&s, last);
  s.v2 ^= 0xff;
  mix(&s, 4);
  return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}
