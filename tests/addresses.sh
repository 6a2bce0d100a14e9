# SPDX-License-Identifier: MIT
# Sourced by what runs programs with sanitizers.
#   $plain    what stands in front of such a program: nothing, or where the kernel's addresses are more random than the
#             sanitizers of gcc 12 and clang 14 can do with, who then give up in one run of some, what makes them plain
# shellcheck shell=bash disable=SC2034

plain=()
if [ "$(cat /proc/sys/vm/mmap_rnd_bits 2>/dev/null || echo 0)" -ge 28 ] && setarch -R true 2>/dev/null; then
	plain=(setarch -R)
fi
