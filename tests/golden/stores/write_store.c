/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the store that make.sh saves. It is built against an earlier fleetprof, with headers of
   that version's tests: FIXTURE makes batches, DEBUG_STORE the debug store. Not part of any build
   of this tree. */
#include FIXTURE

#include DEBUG_STORE
#include "identity/access.h"

enum { BATCHES = 6, RUN = 7, HALF_DAY_MS = 12 * 3600 * 1000 };

int main(int argc, char **argv) {
  struct store *store = NULL;
  struct access *access = NULL;
  struct debug_store *debug = NULL;
  char error[512] = "";
  if (argc != 2) return 2;
  if (store_open(argv[1], &store, error, sizeof error) != 0) return 1;
  for (uint64_t seq = 1; seq <= BATCHES; seq++)
    if (append_new(store, "b1", RUN, seq, NOON_MS + seq * HALF_DAY_MS) != STORE_STORED) return 1;
  store_close(store);
#ifdef HAS_SUMS /* all has settled at the next opening */
  if (store_open(argv[1], &store, error, sizeof error) != 0) return 1;
  if (store_roll(store) != 0) return 1;
  store_close(store);
#endif
  if (access_open(argv[1], &access, error, sizeof error) != 0) return 1;
  if (access_revoke(access, "gone") != 0) return 1;
  access_close(access);
  if (debug_store_open(argv[1], &debug, error, sizeof error) != 0) return 1;
  debug_store_close(debug);
  return 0;
}
