/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet_fixture.h"

#include <ftw.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

void fleet_path(const struct fleet *fleet, const char *name, char path[FLEET_PATH_BYTES]) {
  snprintf(path, FLEET_PATH_BYTES, "%s/%s", fleet->dir, name);
}

static void fleet_extend(X509 *certificate, X509 *issuer, int nid, const char *value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
  X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

struct fleet_pair fleet_make(const struct fleet_leaf *leaf, const struct fleet_pair *issuer) {
  static long serial = 1;
  struct fleet_pair made = {X509_new(), EVP_EC_gen("P-256")};
  X509 *parent = issuer ? issuer->certificate : made.certificate;
  X509_set_version(made.certificate, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(made.certificate), serial++);
  X509_gmtime_adj(X509_getm_notBefore(made.certificate), leaf->from);
  X509_gmtime_adj(X509_getm_notAfter(made.certificate), leaf->until);
  X509_set_pubkey(made.certificate, made.key);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(made.certificate), "CN", MBSTRING_UTF8,
                             (const unsigned char *)leaf->file, -1, -1, 0);
  X509_set_issuer_name(made.certificate, X509_get_subject_name(parent));
  fleet_extend(made.certificate, parent, NID_basic_constraints,
               issuer ? "critical,CA:FALSE" : "critical,CA:TRUE");
  if (issuer == NULL) fleet_extend(made.certificate, parent, NID_key_usage, "keyCertSign");
  if (leaf->usage) fleet_extend(made.certificate, parent, NID_ext_key_usage, leaf->usage);
  X509_sign(made.certificate, issuer ? issuer->key : made.key, EVP_sha256());
  return made;
}

void fleet_pair_fini(struct fleet_pair *pair) {
  X509_free(pair->certificate);
  EVP_PKEY_free(pair->key);
}

static void fleet_write(const struct fleet *fleet, const char *file,
                        const struct fleet_pair *pair) {
  char path[FLEET_PATH_BYTES], name[64];
  snprintf(name, sizeof name, "%s.pem", file);
  fleet_path(fleet, name, path);
  FILE *out = fopen(path, "w");
  PEM_write_X509(out, pair->certificate);
  fclose(out);
  snprintf(name, sizeof name, "%s.key", file);
  fleet_path(fleet, name, path);
  out = fopen(path, "w");
  PEM_write_PrivateKey(out, pair->key, NULL, NULL, 0, NULL, NULL);
  fclose(out);
  chmod(path, 0600);
}

void fleet_add(const struct fleet *fleet, const struct fleet_leaf *leaf,
               const struct fleet_pair *issuer) {
  struct fleet_pair made = fleet_make(leaf, issuer ? issuer : &fleet->root);
  fleet_write(fleet, leaf->file, &made);
  fleet_pair_fini(&made);
}

int fleet_init(struct fleet *fleet) {
  snprintf(fleet->dir, sizeof fleet->dir, "/tmp/fleet-test-XXXXXX");
  if (mkdtemp(fleet->dir) == NULL) return -1;
  fleet->root = fleet_make(&(struct fleet_leaf){"ca", NULL, -FLEET_DAY, FLEET_DAY}, NULL);
  fleet_write(fleet, "ca", &fleet->root);
  fleet_add(fleet, &(struct fleet_leaf){"collector", "serverAuth", -FLEET_DAY, FLEET_DAY}, NULL);
  fleet_add(fleet, &(struct fleet_leaf){"board", "clientAuth", -FLEET_DAY, FLEET_DAY}, NULL);
  return 0;
}

static int fleet_remove_one(const char *path, const struct stat *status, int flag,
                            struct FTW *walk) {
  (void)status, (void)flag, (void)walk;
  return remove(path);
}

void fleet_fini(struct fleet *fleet) {
  fleet_pair_fini(&fleet->root);
  nftw(fleet->dir, fleet_remove_one, 8, FTW_DEPTH | FTW_PHYS);
}
