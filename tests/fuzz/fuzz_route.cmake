# SPDX-License-Identifier: Apache-2.0
fuzz_target(fuzz_route DEPS http query symbol store identity proto common
            LIBS PkgConfig::EVENT Threads::Threads)
