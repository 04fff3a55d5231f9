# SPDX-License-Identifier: Apache-2.0
if(WITH_COLLECTOR)
  fuzz_target(fuzz_csr DEPS identity proto common LIBS OpenSSL::Crypto)
endif()
