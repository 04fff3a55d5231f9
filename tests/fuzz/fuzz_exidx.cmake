# SPDX-License-Identifier: Apache-2.0
if(WITH_AGENT)
  fuzz_target(fuzz_exidx DEPS tables unwind common LIBS PkgConfig::ZLIB)
endif()
