# SPDX-License-Identifier: Apache-2.0
if(WITH_AGENT)
  fuzz_target(fuzz_function_names DEPS report symbol view elf ring proto common LIBS m)
endif()
