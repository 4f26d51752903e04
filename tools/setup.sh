#!/usr/bin/env bash
# Finds out what the tests need and the machine lacks. As root on a machine
# with apt it installs it; otherwise it prints the command to run and fails.
# usage: setup.sh [tool...]   tools: make gcc curl python pytest prometheus chromium node (default: all),
# and emulator, for tools/avx512.sh
set -euo pipefail

[ $# -gt 0 ] || set -- make gcc curl python pytest prometheus chromium node

emulator=(bochs bochsbios vgabios isolinux syslinux-common xorriso busybox-static)

# have TOOL: succeeds if the tool works, not merely if its name is found.
have() {
	case $1 in
	make) make --version ;;
	gcc) gcc --version && [ -e /usr/include/stdlib.h ] ;; # go test -race links with it
	curl) curl --version ;;
	python) python3 -c 'import sys; assert sys.version_info >= (3, 9)' ;;
	pytest) /usr/bin/python3 -c 'import pytest, venv' ;; # the tests try the system's interpreter too
	prometheus) prometheus --version ;;
	chromium) chromium --version ;;
	qemu-user-static) qemu-aarch64-static --version ;; # for tools/arm64.sh
	node) node -e 'process.exit(Number(process.versions.node.split(".")[0]) >= 18 ? 0 : 1)' && npm --version ;;
	emulator)
		for package in "${emulator[@]}"; do
			dpkg -s "$package" | grep -q '^Status: install ok' || return 1
		done
		;;
	*) echo "setup.sh: unknown tool $1" >&2; exit 2 ;;
	esac >/dev/null 2>&1
}

packages=()
for tool in "$@"; do
	have "$tool" && continue
	case $tool in
	python) packages+=(python3) ;;
	gcc) packages+=(gcc libc6-dev) ;;
	pytest) packages+=(python3-pytest) ;;
	node) packages+=(nodejs npm) ;;
	emulator) packages+=("${emulator[@]}") ;;
	*) packages+=("$tool") ;;
	esac
done
[ ${#packages[@]} -gt 0 ] || exit 0

install="apt-get install -y --no-install-recommends -o DPkg::Lock::Timeout=300 ${packages[*]}"
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null || [ -n "${PROCTOR_NO_INSTALL:-}" ]; then
	echo "missing: ${packages[*]}. On Debian, run: sudo apt-get update && sudo $install" >&2
	exit 1
fi
echo "installing ${packages[*]}"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq -o DPkg::Lock::Timeout=300
$install >/dev/null
for tool in "$@"; do
	have "$tool" || { echo "setup.sh: $tool was installed and still does not work" >&2; exit 1; }
done
