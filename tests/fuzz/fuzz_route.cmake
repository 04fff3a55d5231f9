# SPDX-License-Identifier: Apache-2.0
if(WITH_COLLECTOR)
  fuzz_target(fuzz_route DEPS http query view names symbol store identity proto common
              LIBS PkgConfig::EVENT Threads::Threads)
endif()
