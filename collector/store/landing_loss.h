/* SPDX-License-Identifier: Apache-2.0 */
/* Checks whether landing.db belongs to the folder. If it does not, a new one is rebuilt from the
   days: each day file keeps the ledger of its batches. */
#ifndef STORE_LANDING_LOSS_H
#define STORE_LANDING_LOSS_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

struct landing_loss {
  uint64_t store;              /* from access.db; 0: unknown there */
  bool is_damaged, is_foreign; /* the reason for which the file was set aside */
};

/* Checks DIR's landing file to its last page before it is opened. Sets aside a damaged file, and
   one that matches neither access.db nor the days. Returns 0 or -errno. */
int landing_loss_look(const char *dir, struct landing_loss *ret);

/* Upgrades the landing file DB from version 1. Returns 0 or -errno. */
int landing_loss_upgrade(sqlite3 *db);

/* Sets the epoch of the landing file DB; its tables may be empty. If it is not the file that the
   days refer to, restores its ledger and books as far as known, and records a fault. Returns 0 or
   -errno. */
int landing_loss_mend(sqlite3 *db, const char *dir, const struct landing_loss *loss,
                      uint64_t *ret_epoch);

/* Returns the problem that the next open of DIR's landing file DB (NULL: it is missing) would find,
   or NULL. Changes nothing. */
const char *landing_loss_find(const char *dir, sqlite3 *db);

#endif
