# SPDX-License-Identifier: Apache-2.0
if(WITH_COLLECTOR)
  fuzz_target(fuzz_supplements DEPS elf_reader symbol proto common)
  set_tests_properties(fuzz/fuzz_supplements PROPERTIES COST 60) # the longest by far under a sanitizer
endif()
