# SPDX-License-Identifier: Apache-2.0
fuzz_target(fuzz_http_head DEPS http identity common)
