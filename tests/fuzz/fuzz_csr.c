/* SPDX-License-Identifier: Apache-2.0 */
/* An untrusted certificate request: any input gives either a P-256 key or a reason. */
#include "identity/csr.h"

#include <errno.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
  char why[64] = "";
  EVP_PKEY *key = NULL;
  int result = csr_key(span_of(data, len), &key, why, sizeof why);
  if (result == 0 && EVP_PKEY_get_bits(key) != 256) abort();
  if (result == -EBADMSG && (why[0] == 0 || key != NULL)) abort();
  if (result != 0 && result != -EBADMSG) abort();
  EVP_PKEY_free(key);
  return 0;
}
