# SPDX-License-Identifier: Apache-2.0
if(WITH_AGENT)
  fuzz_target(fuzz_elf_notes DEPS elf proto common)
endif()
