#!/bin/sh
# Compiles the native library into OUT/native/<platform>/libdjlplan.so with the machine's C compiler.
# usage: build.sh OUT   (environment: CC, default cc; CFLAGS adds options)
set -eu
out=$1
cc=${CC:-cc}
if ! command -v "$cc" >/dev/null 2>&1; then
    echo "djl-plan: no C compiler found ('$cc'). Install one (Debian: apt-get install gcc libc6-dev) or set CC." >&2
    exit 1
fi
src=$(dirname "$0")
case "$(uname -s)-$(uname -m)" in
    Linux-x86_64 | Linux-amd64) platform=linux-x86_64 ;;
    Linux-aarch64) platform=linux-aarch64 ;;
    *)
        echo "djl-plan: no native library for $(uname -s) $(uname -m): models run as stock there." >&2
        exit 0
        ;;
esac
target=$out/native/$platform
mkdir -p "$target"
# -fexceptions: the engine's allocator throws through our frames when there is no memory.
# nodelete: once the engine calls us, we must not be unloaded.
# shellcheck disable=SC2086 # CFLAGS is a list of words
"$cc" -std=c11 -O2 -fPIC -fexceptions -shared -Wl,-z,nodelete -fvisibility=hidden -Wall -Wextra -Werror ${CFLAGS:-} \
    "$src"/*.c -o "$target/libdjlplan.so" -ldl -lpthread
