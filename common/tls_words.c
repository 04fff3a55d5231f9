/* SPDX-License-Identifier: Apache-2.0 */
/* OpenSSL's own texts name its internals ("sslv3 alert certificate revoked", "unable to get local
   issuer certificate"); a reader of `status` on a board needs the remedy. The same cause has the
   same words on both ends, found in a certificate or received in an alert. Causes that are not in
   these tables use OpenSSL's text. */
#include "tls_words.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <stdio.h>
#include <string.h>

struct tls_word {
  long code;
  const char *words;
};

static const struct tls_word verification_words[] = {
    {X509_V_ERR_CERT_HAS_EXPIRED, "certificate has expired"},
    {X509_V_ERR_CERT_NOT_YET_VALID, "certificate is not yet valid (look at the clock)"},
    {X509_V_ERR_CERT_REVOKED, "certificate revoked"},
    {X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, "unknown CA (the certificate is self-signed)"},
    {X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, "unknown CA (its root is not one of ours)"},
    {X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, "unknown CA (its issuer is not one of ours)"},
    {X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, "unknown CA (its issuer is not one of ours)"},
    {X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, "unknown CA (its issuer is not one of ours)"},
    {X509_V_ERR_CERT_UNTRUSTED, "unknown CA (its issuer is not one of ours)"},
    {X509_V_ERR_CERT_SIGNATURE_FAILURE, "unknown CA (the signature is not that of our CA)"},
    {X509_V_ERR_INVALID_PURPOSE, "certificate is of the wrong kind (extended key usage)"},
    {X509_V_ERR_HOSTNAME_MISMATCH, "is for another host name"},
    {X509_V_ERR_IP_ADDRESS_MISMATCH, "is for another address"},
    {X509_V_ERR_APPLICATION_VERIFICATION, "unknown CA (the token names another root certificate)"},
};

static const struct tls_word alert_words[] = {
    {SSL_AD_CERTIFICATE_EXPIRED, "certificate has expired"},
    {SSL_AD_CERTIFICATE_REVOKED,
     "certificate revoked (on the collector, `fleetprof-collector revoke --undo` takes that back)"},
    {SSL_AD_UNKNOWN_CA, "unknown CA"},
    {SSL_AD_UNSUPPORTED_CERTIFICATE, "certificate is of the wrong kind (extended key usage)"},
    {SSL_AD_BAD_CERTIFICATE, "bad certificate"},
    {SSL_AD_CERTIFICATE_UNKNOWN, "certificate not accepted"},
    {SSL_AD_CERTIFICATE_REQUIRED, "a certificate is needed (enroll this board first)"},
    {SSL_AD_ACCESS_DENIED, "access denied"},
    {SSL_AD_NO_APPLICATION_PROTOCOL, "no common protocol (is this a fleetprof port?)"},
    {SSL_AD_PROTOCOL_VERSION, "no common TLS version"},
    {SSL_AD_HANDSHAKE_FAILURE, "no common TLS parameters"},
};

static const char *find(const struct tls_word *words, size_t count, long code) {
  for (size_t i = 0; i < count; i++)
    if (words[i].code == code) return words[i].words;
  return NULL;
}

const char *tls_words_of_verification(long error) {
  const char *words =
      find(verification_words, sizeof verification_words / sizeof *verification_words, error);
  return words ? words : X509_verify_cert_error_string(error);
}

const char *tls_words_of_alert(int alert) {
  const char *words = find(alert_words, sizeof alert_words / sizeof *alert_words, alert);
  return words ? words : SSL_alert_desc_string_long(alert);
}

void tls_words_of_queue(const char *fallback, char *why, size_t why_len) {
  unsigned long error = ERR_peek_error(); /* the oldest is the cause, the others follow from it */
  const char *words = error != 0 ? ERR_reason_error_string(error) : NULL;
  int reason = ERR_GET_REASON(error);
  if (ERR_GET_LIB(error) == ERR_LIB_SSL && reason > SSL_AD_REASON_OFFSET)
    words = tls_words_of_alert(reason - SSL_AD_REASON_OFFSET);
  if (ERR_SYSTEM_ERROR(error)) words = strerror(reason);
  if (words != NULL)
    snprintf(why, why_len, "%s", words);
  else
    snprintf(why, why_len, "%s", fallback);
  ERR_clear_error();
}
