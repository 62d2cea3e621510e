#!/usr/bin/env bash
# Makes integration-tests/target/aarch64/bin/java: a JVM for 64-bit ARM that runs under user
# emulation, for tests on that platform. Its packages come from Debian; nothing is installed.
# Needs qemu-user-static, apt-get and dpkg-deb.
set -euo pipefail

java=openjdk-17-jre-headless
packages="$java libc6 libgcc-s1 libstdc++6 libgomp1 zlib1g"
home=usr/lib/jvm/java-17-openjdk-arm64
# Has atomic instructions (LSE), which DJL's PyTorch needs, and no SVE, which emulators get wrong.
cpu=neoverse-n1

folder=$(CDPATH="" cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)/target/aarch64
[[ -x $folder/bin/java ]] && exit
for tool in qemu-aarch64-static apt-get dpkg-deb; do
    if ! command -v $tool >/dev/null; then
        echo "emulate-aarch64: no $tool (Debian: apt-get install qemu-user-static)" >&2
        exit 1
    fi
done

# A package manager's state of its own: the machine's stays as it is.
mkdir -p "$folder"/{root,bin,packages,apt/lists/partial,apt/cache/archives/partial}
touch "$folder/apt/status"
apt() {
    apt-get -q -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User= \
        -o Dir::State="$folder/apt" -o Dir::State::status="$folder/apt/status" \
        -o Dir::Cache="$folder/apt/cache" "$@"
}
apt update
# shellcheck disable=SC2086 # a list of words
(cd "$folder/packages" && apt download $packages)
for package in "$folder"/packages/*.deb; do
    dpkg-deb -x "$package" "$folder/root"
done

# Its configuration lies in /etc, where this machine may have one of its own.
find "$folder/root/$home" -type l -lname '/etc/*' | while read -r link; do
    ln -sfn "$folder/root$(readlink "$link")" "$link"
done
cat >"$folder/bin/java" <<END
#!/bin/sh
exec qemu-aarch64-static -cpu $cpu -L "$folder/root" "$folder/root/$home/bin/java" \\
    -XX:TieredStopAtLevel=1 -XX:+UseSerialGC "\$@"
END
chmod +x "$folder/bin/java"
"$folder/bin/java" -version
