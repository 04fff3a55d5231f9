/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes of functions that a scan must follow (make.sh compiles them for each CPU). */
typedef unsigned long word;

extern word take(void *bytes, word count);
extern word give(word a, word b, word c, word d, word e, word f);
extern void fail(const char *why) __attribute__((noreturn));

__attribute__((noinline)) word leaf(word a, word b) {
  return a * 3 + b;
}

word caller(word a) {
  return take(0, a) + leaf(a, 2);
}

word with_array(word a) {
  char bytes[200];
  word got = take(bytes, sizeof bytes);
  return got + (word)bytes[a & 127];
}

word large_frame(word a) {
  char bytes[70000];
  take(bytes, a);
  return take(bytes + 100, a) + (word)bytes[a & 1023];
}

word with_alloca(word a) {
  char *bytes = __builtin_alloca(a * 8);
  word got = take(bytes, a);
  return got + give(a, got, 1, 2, 3, 4);
}

/* Returns before a frame is made. */
word early(word *list, word count) {
  if (count == 0) return 0;
  word sum = 0;
  for (word i = 0; i < count; i++) sum += take(list, list[i]);
  return sum;
}

word many(word a, word b, word c, word d) {
  word e = take(0, a), f = take(0, b), g = take(0, c), h = take(0, d);
  for (word i = 0; i < e; i++) {
    f += give(a, b, c, d, g, h);
    g ^= take(0, f), h += g, a ^= h, b += a, c ^= b, d += c;
  }
  return e + f + g + h + a + b + c + d;
}

word cases(word kind, word a) {
  word got = take(0, a);
  switch (kind) {
  case 0:
    return got + take(0, 1);
  case 1:
    return take(0, got) * 5;
  case 2:
    got += take(&got, 3);
    break;
  case 3:
    got = give(a, a, a, a, a, got);
    break;
  case 4:
    return got - take(0, 9) + take(0, 10);
  case 5:
    got ^= take(0, 77) << 3;
    break;
  case 6:
    got = take(0, got) / (a | 1);
    break;
  case 7:
    return 12;
  }
  return got + take(0, kind);
}

word tail(word a) {
  if (a > 100) return take(0, a + 1);
  take(0, 5);
  return give(a, 1, 2, 3, 4, 5);
}

word checked(word a) {
  word got = take(0, a);
  if (got > 1000) fail("large");
  if (got == 77) fail("77");
  return got;
}

word variable(word count, ...) {
  __builtin_va_list list;
  word sum = 0;
  __builtin_va_start(list, count);
  while (count-- > 0) sum += take(0, __builtin_va_arg(list, word));
  __builtin_va_end(list);
  return sum;
}

double floats(double a, double b) {
  double c = a * 2, d = b * 3, e = a + b;
  for (word i = 0; i < 10; i++) {
    take(0, i);
    c += d * e, d -= a, e += b;
  }
  return c + d + e;
}

static __attribute__((noinline)) word hidden(word *list, word count) {
  word sum = 1;
  while (count-- > 0) sum = sum * 31 + take(list, list[count]);
  return sum;
}

word uses_hidden(word *list) {
  return hidden(list, 10) + hidden(list + 10, 20);
}

word nested(word a) {
  word sum = 0;
  for (word i = 0; i < a; i++) {
    if (take(0, i) & 1) continue;
    for (word j = 0; j < i; j++) {
      if (take(0, j) == 9) return sum;
      sum += give(i, j, sum, a, 0, 1);
    }
  }
  return sum;
}
