/* SPDX-License-Identifier: Apache-2.0 */
/* The reason of a TLS failure, in words for users. */
#ifndef COMMON_TLS_WORDS_H
#define COMMON_TLS_WORDS_H

#include <stddef.h>

/* Returns words for an X509_V_ERR_* of the own verification. */
const char *tls_words_of_verification(long error);

/* Returns words for a TLS alert description. */
const char *tls_words_of_alert(int alert);

/* Empties this thread's OpenSSL error queue and writes its first reason, or FALLBACK if it is
   empty, into WHY. */
void tls_words_of_queue(const char *fallback, char *why, size_t why_len);

#endif
