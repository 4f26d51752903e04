#!/usr/bin/env bash
# Runs the tests of the numeric packages on an emulated processor with AVX-512,
# for machines that have none: Debian's kernel in Bochs, with the tests as its
# only programs. It takes some minutes of an idle core and ends with an error unless every
# test passed and AVX-512 was compared with AVX2 bit for bit.
# usage: avx512.sh [package...]   (default: trainer/fastblas and its vec)
# Tried with Debian 12 (Bochs 2.7, Linux 6.1).
set -euo pipefail
cd "$(dirname "$0")/.."
tools/setup.sh emulator
[ $# -gt 0 ] || set -- trainer/fastblas trainer/fastblas/vec

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
mkdir -p "$root"/{bin,proc,dev,tmp} "$work/iso" "$work/deb"

# The kernel is unpacked, not installed.
(cd "$work/deb"
apt-get download -qq -o APT::Sandbox::User=root "$(apt-cache depends linux-image-cloud-amd64 | awk '/Depends:/ {print $2; exit}')"
dpkg-deb -x ./*.deb .)
cp "$work"/deb/boot/vmlinuz-* "$work/iso/vmlinuz"

# A test runs where its testdata is.
cp "$(command -v busybox)" "$root/bin/busybox"
for package in "$@"; do
	mkdir -p "$root/$package"
	CGO_ENABLED=0 GOOS=linux GOARCH=amd64 go test -c -o "$root/$package/the.test" "./$package"
	[ ! -d "$package/testdata" ] || cp -r "$package/testdata" "$root/$package/"
done
cat >"$root/init" <<'INIT'
#!/bin/busybox sh
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t devtmpfs dev /dev
/bin/busybox mount -t tmpfs tmp /tmp
for package in $(/bin/busybox cat /packages); do
	echo "testing $package"
	cd "/$package"
	./the.test -test.v -test.timeout 2h -test.skip '.*/^(go|avx2)$|.*/.*/^(go|avx2)$' >/tmp/out 2>&1
	code=$?
	# Of what passed, tests only: the serial line is slow. The other kernels
	# are tested on any machine.
	/bin/busybox grep -vE '^=== |^ +--- PASS' /tmp/out
	echo "passed with AVX-512: $(/bin/busybox grep -c -- '--- PASS: .*/avx512' /tmp/out)"
	echo "exit code of $package: $code"
done
# Bochs writes out the serial line by 4096 letters.
echo finished
/bin/busybox head -c 8192 /dev/zero | /bin/busybox tr '\0' ' '
while :; do
	/bin/busybox sleep 1000
done
INIT
chmod +x "$root/init"
echo "$@" >"$root/packages"
(cd "$root" && find . | busybox cpio -o -H newc 2>/dev/null) >"$work/iso/initrd"

# Bochs 2.7 gives a wrong size for compacted register state (features 321 and
# 323), on which Linux would leave AVX off.
cp /usr/lib/ISOLINUX/isolinux.bin /usr/lib/syslinux/modules/bios/ldlinux.c32 "$work/iso"
cat >"$work/iso/isolinux.cfg" <<'BOOT'
default linux
label linux
 kernel vmlinuz
 append initrd=initrd console=ttyS0 loglevel=4 mitigations=off nokaslr tsc=reliable clearcpuid=321,323
BOOT
xorriso -as mkisofs -quiet -o "$work/boot.iso" -b isolinux.bin -c boot.cat \
	-no-emul-boot -boot-load-size 4 -boot-info-table "$work/iso" 2>/dev/null
cat >"$work/bochsrc" <<BOCHS
config_interface: textconfig
display_library: rfb, options="timeout=0"
cpu: model=corei7_skylake_x, count=1, ips=100000000, reset_on_triple_fault=0
memory: guest=768, host=768
romimage: file=/usr/share/bochs/BIOS-bochs-latest
vgaromimage: file=/usr/share/bochs/VGABIOS-lgpl-latest
ata0-master: type=cdrom, path=$work/boot.iso, status=inserted
boot: cdrom
com1: enabled=1, mode=file, dev=$work/serial
clock: sync=none, time0=utc
log: $work/bochs.log
panic: action=fatal
error: action=ignore
info: action=ignore
BOCHS

# Its screen is a network port that nobody needs: away with it where possible.
alone=()
! unshare -rn true 2>/dev/null || alone=(unshare -rn)
touch "$work/serial"
echo "running $* in the emulator"
# Debian's Bochs is one with a debugger, which is told to continue.
"${alone[@]}" bochs-bin -q -f "$work/bochsrc" >"$work/screen" 2>&1 <<<c &
emulator=$!
trap 'kill "$emulator" 2>/dev/null || true; rm -rf "$work"' EXIT
while kill -0 "$emulator" 2>/dev/null && ! grep -q '^finished' "$work/serial"; do
	sleep 2
done

tr -d '\r' <"$work/serial" | sed '/^finished/,$d' | tee "$work/result"
bad=0
for package in "$@"; do
	grep -q "^exit code of $package: 0\$" "$work/result" || { echo "FAILED: $package"; bad=1; }
done
compared=$(grep -c '^--- PASS: TestAVX512HasTheBitsOfAVX2 ' "$work/result" || true)
wanted=0
for package in "$@"; do
	! grep -q 'func TestAVX512HasTheBitsOfAVX2(' "$package"/*_test.go || wanted=$((wanted + 1))
done
[ "$compared" = "$wanted" ] || { echo "FAILED: compared in $compared packages, not in $wanted"; bad=1; }
[ $bad = 0 ] || { tail -n 5 "$work/screen" "$work/bochs.log"; exit 1; }
echo "AVX-512 has the bits of AVX2 in $compared packages; all tests passed"
