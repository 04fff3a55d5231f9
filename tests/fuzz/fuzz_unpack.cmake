# SPDX-License-Identifier: Apache-2.0
if(WITH_AGENT AND WITH_COLLECTOR)
  fuzz_target(fuzz_unpack DEPS upload cli elf symbol proto common LIBS OpenSSL::Crypto)
endif()
