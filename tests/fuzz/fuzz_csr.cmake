# SPDX-License-Identifier: Apache-2.0
fuzz_target(fuzz_csr DEPS identity proto common LIBS OpenSSL::Crypto)
