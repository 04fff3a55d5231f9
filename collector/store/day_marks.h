/* SPDX-License-Identifier: Apache-2.0 */
/* Which files of days there are, and how new each was: landing.db knows it by the file's name
   (sqlite/marks.h), so that one that is gone, older or another collector's is noticed. */
#ifndef STORE_DAY_MARKS_H
#define STORE_DAY_MARKS_H

#include "sqlite/marks.h"
#include "tier.h"

#include <stdbool.h>

struct day_set;
struct landing;

/* In landing.db: each file that there was when the first version with marks began has one. */
#define DAY_MARKS_COMPLETE "days"

enum day_state { DAY_WHOLE, DAY_GONE, DAY_OLDER, DAY_FOREIGN, DAY_DAMAGED };

/* What is known of a file before it is looked at. */
struct day_mark {
  uint64_t store;   /* of the folder */
  uint64_t value;   /* its mark */
  bool is_marked;   /* it has one */
  bool is_complete; /* every file of the folder has */
};

/* Which kind of file a mark's NAME is, and of which DAY; DAY_KINDS: none of a day. */
enum day_kind day_marks_kind(const char *name, uint32_t *ret_day);

/* Says of the file PATH of KIND what became of it, and sets RET to how new it is (settled_id of
   windows, transactions of sums).  Changes nothing.  Returns an enum day_state, or -errno. */
int day_marks_judge(const char *path, enum day_kind kind, const struct day_mark *mark,
                    uint64_t *ret);

/* What a file in that STATE, any but DAY_WHOLE, means for answers. */
const char *day_marks_why(enum day_state state);

/* Looks at DAY's file of KIND before it is used: keeps a fault where something of it was lost, sets
   another collector's aside.  Returns 0 or -errno.  Nobody may have it open. */
int day_marks_admit(struct landing *landing, const char *dir, enum day_kind kind, uint32_t day);

/* Does so with every file that there is or should be; at the start. */
int day_marks_admit_all(struct landing *landing, const char *dir);

/* Looks which files have gone without our doing, and keeps faults.  Any thread. */
void day_marks_find_missing(struct landing *landing, const char *dir);

/* Note how new the open files of SET are, or that DAY's file of sums has come to GENERATION. Return
   0 or -errno. */
int day_marks_note_set(struct landing *landing, const struct day_set *set);
int day_marks_note_sums(struct landing *landing, const char *dir, enum day_kind kind, uint32_t day,
                        uint64_t generation);

/* DAY's file of KIND is to be deleted, durably; or is set aside as damaged. */
int day_marks_forget(struct landing *landing, const char *dir, enum day_kind kind, uint32_t day);
void day_marks_set_aside(struct landing *landing, const char *path, uint32_t day);

#endif
