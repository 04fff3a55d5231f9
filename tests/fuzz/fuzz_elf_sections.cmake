# SPDX-License-Identifier: Apache-2.0
if(WITH_AGENT)
  fuzz_target(fuzz_elf_sections DEPS elf proto common)
endif()
