# SPDX-License-Identifier: Apache-2.0
if(WITH_COLLECTOR)
  fuzz_target(fuzz_token DEPS identity proto common LIBS OpenSSL::Crypto)
endif()
