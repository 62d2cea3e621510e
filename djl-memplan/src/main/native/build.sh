#!/bin/sh
# Compiles the native library into OUT/native/<platform>/libdjlplan.so with the machine's C compiler,
# and on x86-64 for 64-bit ARM, too, where there are a compiler and a C library for that.
# usage: build.sh OUT   (environment: CC, default cc; CC_AARCH64, default aarch64-linux-gnu-gcc;
# CFLAGS adds options; DJLPLAN_EVERY_PLATFORM=true requires the library of each platform)
set -eu
out=$1
src=$(dirname "$0")

require() {
    command -v "$1" >/dev/null 2>&1 && return
    echo "djl-plan: no C compiler found ('$1'). Install one (Debian: apt-get install $2) or set $3." >&2
    exit 1
}

# A compiler may be there without the C library of its target.
has_libc() {
    echo '#include <dlfcn.h>' | "$1" -fsyntax-only -x c - 2>/dev/null
}

# -fexceptions: the engine's allocator throws through our frames when there is no memory.
# nodelete: once the engine calls us, we must not be unloaded.
# What is made of the same sources by the same compiler stays, and so do the times of a library that
# is the same and of its folder: Maven would compile again what depends on them.
compile() {
    library=$out/native/$2/libdjlplan.so
    made=$(dirname "$out")/native-$2
    from=$({ echo "${CFLAGS:-}" && "$1" --version && cat "$0" "$src"/*.[ch]; } | cksum)
    if [ -f "$library" ] && [ "$from" = "$(cat "$made.from" 2>/dev/null)" ]; then
        return
    fi
    mkdir -p "$out/native/$2"
    # shellcheck disable=SC2086 # CFLAGS is a list of words
    "$1" -std=c11 -O2 -fPIC -fexceptions -shared -Wl,-z,nodelete -fvisibility=hidden \
        -Wall -Wextra -Werror ${CFLAGS:-} "$src"/*.c -o "$made.so" -ldl -lpthread
    if cmp -s "$made.so" "$library"; then
        rm "$made.so"
    else
        mv "$made.so" "$library"
    fi
    echo "$from" >"$made.from"
}

cc=${CC:-cc}
require "$cc" "gcc libc6-dev" CC
case "$(uname -s)-$(uname -m)" in
    Linux-x86_64 | Linux-amd64)
        cross=${CC_AARCH64:-aarch64-linux-gnu-gcc}
        if [ "${DJLPLAN_EVERY_PLATFORM:-}" = true ]; then
            require "$cross" "gcc-aarch64-linux-gnu libc6-dev-arm64-cross" CC_AARCH64
        fi
        # Both at once: a compiler uses one processor.
        compile "$cc" linux-x86_64 &
        own=$!
        if [ "${DJLPLAN_EVERY_PLATFORM:-}" = true ] || has_libc "$cross"; then
            compile "$cross" linux-aarch64 &
            wait "$!" || failed=true
        fi
        wait "$own" || failed=true
        [ -z "${failed:-}" ]
        ;;
    Linux-aarch64) compile "$cc" linux-aarch64 ;;
    *) echo "djl-plan: no native library for $(uname -s) $(uname -m): models run as stock there." >&2 ;;
esac
