#!/bin/bash
# SPDX-License-Identifier: MIT
# usage: tests/torture/sysroot.sh ARCHITECTURE DIRECTORY PACKAGE...
#
# Fetch packages of a foreign Debian architecture and unpack them below DIRECTORY/root, with apt's own client and
# keys, but with lists, cache and state of its own: nothing of the system changes, and no root is needed.
# What is there already is not fetched again.
set -eu

arch=$1 dir=$2
shift 2
[ "$(cat "$dir/done" 2>/dev/null)" != "$*" ] || exit 0

rm -rf "$dir"
mkdir -p "$dir"/{root,debs,state/lists/partial,cache/archives/partial}
release=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 2>/dev/null | grep /debian/ | head -n 1)
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] ${mirror:-http://deb.debian.org/debian/}" \
	"$release main" >"$dir/sources.list"
apt=(-qq -o "APT::Architecture=$arch" -o "APT::Architectures=$arch" -o APT::Sandbox::User=
	-o "Dir::State=$dir/state" -o Dir::State::status=/dev/null -o "Dir::Cache=$dir/cache"
	-o "Dir::Etc::sourcelist=$dir/sources.list" -o Dir::Etc::sourceparts=/nonexistent)
apt-get "${apt[@]}" update
(cd "$dir/debs" && apt-get "${apt[@]}" download "$@")
for deb in "$dir"/debs/*.deb; do
	dpkg-deb -x "$deb" "$dir/root"
done
echo "$*" >"$dir/done"
