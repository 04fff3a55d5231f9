/* SPDX-License-Identifier: Apache-2.0 */
/* What a collector says of a row of a difference, as words. */
#ifndef CLI_VERDICT_WORD_H
#define CLI_VERDICT_WORD_H

#include "view/diff.h"

struct cJSON;

/* ROW's verdict; VIEW_UNCLEAR of a word that is not known. */
enum view_verdict verdict_word_of(const struct cJSON *row);

/* Why it is unclear; VIEW_NO_DOUBT of none, or of a word that is not known. */
enum view_doubt verdict_word_doubt(const struct cJSON *row);

#endif
