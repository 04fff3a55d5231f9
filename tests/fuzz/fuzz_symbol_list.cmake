# SPDX-License-Identifier: Apache-2.0
if(WITH_AGENT)
  fuzz_target(fuzz_symbol_list DEPS symbol_list common)
endif()
