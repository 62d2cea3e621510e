#!/bin/sh
# Compiles the native libraries into OUT/native/<platform> with the machine's C and C++ compilers:
# libdjlplan.so of the C sources, and libdjlplan-torch.so of the C++ source. On x86-64 for 64-bit ARM,
# too, where there are compilers and C and C++ libraries for that.
# usage: build.sh OUT   (environment: CC, CXX, default cc, c++; CC_AARCH64, CXX_AARCH64, default
# aarch64-linux-gnu-gcc, aarch64-linux-gnu-g++; CFLAGS adds options for both languages;
# DJLPLAN_EVERY_PLATFORM=true requires the libraries of each platform)
set -eu
out=$1
src=$(dirname "$0")

require() {
    command -v "$1" >/dev/null 2>&1 && return
    echo "djl-plan: no compiler found ('$1'). Install one (Debian: apt-get install $2) or set $3." >&2
    exit 1
}

# A compiler may be there without the library of its target.
has_headers() {
    echo "#include <$3>" | "$1" -fsyntax-only -x "$2" - 2>/dev/null
}

# -fexceptions: the engine's allocator throws through our frames when there is no memory.
# nodelete: once the engine calls us, we must not be unloaded.
# What is made of the same sources by the same compiler stays, and so do the times of a library that
# is the same and of its folder: Maven would compile again what depends on them.
# usage: compile COMPILER STANDARD PLATFORM LIBRARY SOURCE...
compile() {
    compiler=$1 standard=$2 platform=$3 name=$4
    shift 4
    library=$out/native/$platform/$name.so
    made=$(dirname "$out")/native-$platform-$name
    from=$({ echo "${CFLAGS:-}" && "$compiler" --version && cat "$0" "$src"/*.h "$@"; } | cksum)
    if [ -f "$library" ] && [ "$from" = "$(cat "$made.from" 2>/dev/null)" ]; then
        return
    fi
    mkdir -p "$out/native/$platform"
    # shellcheck disable=SC2086 # CFLAGS is a list of words
    "$compiler" "-std=$standard" -O2 -fPIC -fexceptions -shared -Wl,-z,nodelete -fvisibility=hidden \
        -Wall -Wextra -Werror ${CFLAGS:-} "$@" -o "$made.so" -ldl -lpthread
    if cmp -s "$made.so" "$library"; then
        rm "$made.so"
    else
        mv "$made.so" "$library"
    fi
    echo "$from" >"$made.from"
}

# usage: compile_both C-COMPILER C++-COMPILER PLATFORM
compile_both() {
    compile "$1" c11 "$3" libdjlplan "$src"/*.c
    compile "$2" c++17 "$3" libdjlplan-torch "$src"/*.cpp
}

cc=${CC:-cc}
cxx=${CXX:-c++}
require "$cc" "gcc libc6-dev" CC
require "$cxx" g++ CXX
case "$(uname -s)-$(uname -m)" in
    Linux-x86_64 | Linux-amd64)
        cross=${CC_AARCH64:-aarch64-linux-gnu-gcc}
        crossxx=${CXX_AARCH64:-aarch64-linux-gnu-g++}
        if [ "${DJLPLAN_EVERY_PLATFORM:-}" = true ]; then
            require "$cross" "gcc-aarch64-linux-gnu libc6-dev-arm64-cross" CC_AARCH64
            require "$crossxx" g++-aarch64-linux-gnu CXX_AARCH64
        fi
        # Both platforms at once: a compiler uses one processor.
        compile_both "$cc" "$cxx" linux-x86_64 &
        own=$!
        if [ "${DJLPLAN_EVERY_PLATFORM:-}" = true ] ||
            { has_headers "$cross" c dlfcn.h && has_headers "$crossxx" c++ string; }; then
            compile_both "$cross" "$crossxx" linux-aarch64 &
            wait "$!" || failed=true
        fi
        wait "$own" || failed=true
        [ -z "${failed:-}" ]
        ;;
    Linux-aarch64) compile_both "$cc" "$cxx" linux-aarch64 ;;
    *) echo "djl-plan: no native library for $(uname -s) $(uname -m): models run as stock there." >&2 ;;
esac
