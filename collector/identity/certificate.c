/* SPDX-License-Identifier: Apache-2.0 */
/* Certificates of the fleet's own authority.

   There are three kinds: the root (signs only), collectors (serverAuth only) and boards (clientAuth
   only). The extended key usage distinguishes the two ends of a connection, so a stolen board key
   can never pose as a collector. Every extension is built here from constants and checked names;
   nothing is copied from a request. Serials are 128 random bits. Validity starts a little in the
   past because a board's clock may be behind. */
#include "certificate.h"

#include "common/clock.h"

#include <errno.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/x509v3.h>
#include <stdbool.h>
#include <stddef.h>

enum {
  SERIAL_BITS = 128,
  DAY_SECONDS = 24 * 60 * 60,
  LEEWAY_PART = 30,
  EXTENSION_ROWS = 4,
  ID_BYTES = 8
};

struct extension {
  int nid;
  const char *value;
};

/* Extensions of each use, besides its names and key identifiers. */
static const struct extension extensions[][EXTENSION_ROWS] = {
    [CERTIFICATE_ROOT] = {{NID_basic_constraints, "critical,CA:TRUE,pathlen:0"},
                          {NID_key_usage, "critical,keyCertSign,cRLSign"}},
    [CERTIFICATE_SERVER] = {{NID_basic_constraints, "critical,CA:FALSE"},
                            {NID_key_usage, "critical,digitalSignature"},
                            {NID_ext_key_usage, "serverAuth"}},
    [CERTIFICATE_BOARD] = {{NID_basic_constraints, "critical,CA:FALSE"},
                           {NID_key_usage, "critical,digitalSignature"},
                           {NID_ext_key_usage, "clientAuth"}},
};

EVP_PKEY *certificate_key_make(void) {
  EVP_PKEY *key = EVP_EC_gen("P-256");
  ERR_clear_error();
  return key;
}

static int add_extension(X509 *certificate, X509V3_CTX *context, int nid, const char *value) {
  X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, context, nid, value);
  int added = extension != NULL && X509_add_ext(certificate, extension, -1) == 1;
  X509_EXTENSION_free(extension);
  return added;
}

static int add_extensions(X509 *certificate, X509 *issuer, const struct certificate_terms *terms) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
  const struct extension *rows = extensions[terms->use];
  for (size_t i = 0; i < EXTENSION_ROWS && rows[i].value != NULL; i++)
    if (!add_extension(certificate, &context, rows[i].nid, rows[i].value)) return 0;
  if (terms->alt_names != NULL &&
      !add_extension(certificate, &context, NID_subject_alt_name, terms->alt_names))
    return 0;
  return add_extension(certificate, &context, NID_subject_key_identifier, "hash") &&
         (terms->use == CERTIFICATE_ROOT ||
          add_extension(certificate, &context, NID_authority_key_identifier, "keyid:always"));
}

static int set_serial(X509 *certificate) {
  BIGNUM *serial = BN_new();
  int set = serial != NULL && BN_rand(serial, SERIAL_BITS, BN_RAND_TOP_ANY, BN_RAND_BOTTOM_ANY) &&
            BN_to_ASN1_INTEGER(serial, X509_get_serialNumber(certificate)) != NULL;
  BN_free(serial);
  return set;
}

/* Sets a plain UTF8String: the MBSTRING forms would limit a name to X.520's 64 characters, and a
   board's may have 128. */
static int set_name(X509 *certificate, const char *name) {
  return X509_NAME_add_entry_by_NID(X509_get_subject_name(certificate), NID_commonName,
                                    V_ASN1_UTF8STRING, (const unsigned char *)name, -1, -1, 0);
}

/* The leeway at the beginning is a fraction of the life. So half of the stated span is half of the
   life even for a life of minutes. */
static int set_validity(X509 *certificate, const struct certificate_terms *terms) {
  long life = (long)terms->days * DAY_SECONDS + terms->seconds;
  long leeway = life / LEEWAY_PART < DAY_SECONDS ? life / LEEWAY_PART : DAY_SECONDS;
  time_t now = (time_t)(clock_judged_ns() / NS_PER_SECOND);
  return X509_time_adj_ex(X509_getm_notBefore(certificate), 0, -leeway, &now) != NULL &&
         X509_time_adj_ex(X509_getm_notAfter(certificate), terms->days, terms->seconds, &now) !=
             NULL;
}

/* One part in LEEWAY_PART + 1 of the stated span is leeway, at most a day. */
int64_t certificate_signed_s(const X509 *certificate) {
  struct tm begin, end;
  if (ASN1_TIME_to_tm(X509_get0_notBefore(certificate), &begin) != 1 ||
      ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &end) != 1)
    return 0;
  int64_t begin_s = (int64_t)timegm(&begin);
  int64_t leeway_s = ((int64_t)timegm(&end) - begin_s) / (LEEWAY_PART + 1);
  return begin_s + (leeway_s < DAY_SECONDS ? leeway_s : DAY_SECONDS);
}

int certificate_key_digest(const EVP_PKEY *key, uint8_t ret_digest[32]) {
  unsigned char *der = NULL;
  int len = i2d_PUBKEY(key, &der);
  bool is_done = len > 0 && EVP_Digest(der, (size_t)len, ret_digest, NULL, EVP_sha256(), NULL) == 1;
  OPENSSL_free(der);
  ERR_clear_error();
  return is_done ? 0 : -ENOMEM;
}

uint64_t certificate_id(const X509 *certificate) {
  uint8_t digest[EVP_MAX_MD_SIZE];
  uint64_t id = 0;
  if (X509_digest(certificate, EVP_sha256(), digest, NULL) == 1)
    for (int i = 0; i < ID_BYTES; i++) id |= (uint64_t)digest[i] << 8 * i;
  ERR_clear_error();
  return id;
}

X509 *certificate_make(const struct certificate_terms *terms, EVP_PKEY *key, X509 *issuer,
                       EVP_PKEY *issuer_key) {
  X509 *certificate = X509_new();
  if (certificate == NULL) return NULL;
  X509 *signer = issuer ? issuer : certificate;
  if (X509_set_version(certificate, X509_VERSION_3) && set_serial(certificate) &&
      set_name(certificate, terms->name) && set_validity(certificate, terms) &&
      X509_set_issuer_name(certificate, X509_get_subject_name(signer)) &&
      X509_set_pubkey(certificate, key) && add_extensions(certificate, signer, terms) &&
      X509_sign(certificate, issuer_key, EVP_sha256()) > 0)
    return certificate;
  X509_free(certificate);
  ERR_clear_error();
  return NULL;
}
