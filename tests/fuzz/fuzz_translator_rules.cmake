# SPDX-License-Identifier: Apache-2.0
if(WITH_COLLECTOR)
  fuzz_target(fuzz_translator_rules DEPS translators common LIBS Threads::Threads)
endif()
