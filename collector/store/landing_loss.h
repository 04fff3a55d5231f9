/* SPDX-License-Identifier: Apache-2.0 */
/* Whether landing.db is the one that the folder had, and what is made of the days when it is not:
   each day file keeps the ledger of what is in it. */
#ifndef STORE_LANDING_LOSS_H
#define STORE_LANDING_LOSS_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

struct landing_loss {
  uint64_t store;              /* as access.db has it; 0: it does not say */
  bool is_damaged, is_foreign; /* and was therefore set aside */
};

/* Looks at DIR's landing file before it is opened, through to its last page; sets a damaged one
   aside, and one that neither access.db nor the days know.  Returns 0 or -errno. */
int landing_loss_look(const char *dir, struct landing_loss *ret);

/* Gives the landing file DB of version 1 what has come since.  Returns 0 or -errno. */
int landing_loss_upgrade(sqlite3 *db);

/* Gives the landing file DB, whose tables may be empty, its epoch; and where it is not the one that
   the days know, its ledger and books as far as they are known, and a fault that says so.  Returns
   0 or -errno. */
int landing_loss_mend(sqlite3 *db, const char *dir, const struct landing_loss *loss,
                      uint64_t *ret_epoch);

/* What would be found wrong with DIR's landing file, whose content DB is (NULL: it is not there),
   by the next to open it; NULL: nothing.  Changes nothing. */
const char *landing_loss_find(const char *dir, sqlite3 *db);

#endif
