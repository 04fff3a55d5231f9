# SPDX-License-Identifier: Apache-2.0
if(WITH_COLLECTOR)
  fuzz_target(fuzz_elf DEPS elf_reader symbol proto common)
endif()
