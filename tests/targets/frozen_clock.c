/* SPDX-License-Identifier: Apache-2.0 */
/* A library that stops the clock, as in a program that replays a recording. */
#include <time.h>

int clock_gettime(clockid_t id, struct timespec *ret) {
  (void)id;
  *ret = (struct timespec){.tv_sec = 1};
  return 0;
}
