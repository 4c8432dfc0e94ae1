#!/bin/sh
# Lays out the library for C and C++ below a prefix: headers, shared library with versioned symbols, static
# library, pkg-config file and CMake package. Releases and tests are made by it too.
#
# Rust's own shared library has neither a name of its own nor versions, and its static one exports thousands of
# names. So both are made here, of one object that holds what the functions of wakepath.map need and shows
# nothing else.
set -eu

ABI=1
USAGE="Usage: sh install.sh --prefix DIRECTORY [--libdir lib] [--archive libwakepath.a]

  --prefix DIRECTORY  where to: DIRECTORY/include and DIRECTORY/lib
  --libdir NAME       another name for lib below it, such as lib/x86_64-linux-gnu
  --archive FILE      what cargo built of wakepath-c; without, it is built now
  --version VERSION   another version than this crate's

CC and OBJCOPY name the compiler (cc) and objcopy of the machine that it is for."

fail() {
    printf 'install.sh: %s\n' "$*" >&2
    exit 1
}

PREFIX=
LIBDIR=lib
ARCHIVE=
VERSION=
while [ $# -gt 0 ]; do
    case $1 in
    --prefix | --libdir | --archive | --version)
        [ -n "${2:-}" ] || fail "$1 needs a value"
        case $1 in
        --prefix) PREFIX=$2 ;;
        --libdir) LIBDIR=$2 ;;
        --archive) ARCHIVE=$2 ;;
        --version) VERSION=$2 ;;
        esac
        shift 2
        ;;
    -h | --help)
        printf '%s\n' "$USAGE"
        exit 0
        ;;
    *) fail "unknown argument $1; sh install.sh --help lists all" ;;
    esac
done
[ -n "$PREFIX" ] || fail "--prefix is missing; sh install.sh --help lists all"
case $LIBDIR in
/* | *..* | '') fail "--libdir is a name below the prefix, such as lib64, not $LIBDIR" ;;
esac
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
CC=${CC:-cc}
OBJCOPY=${OBJCOPY:-objcopy}
for tool in "$CC" "$OBJCOPY" ar sed mktemp; do
    command -v "$tool" >/dev/null 2>&1 || fail "no $tool here, which this needs. Nothing was written"
done

work=$(mktemp -d "${TMPDIR:-/tmp}/wakepath-library.XXXXXXXX")
trap 'rm -rf -- "$work"' EXIT
trap 'exit 1' HUP INT TERM

if [ -z "$ARCHIVE" ]; then
    (cd -- "$here" && cargo rustc --release --crate-type staticlib --target-dir "$work/target") || fail "cargo can't build the library"
    ARCHIVE=$work/target/release/libwakepath.a
fi
[ -f "$ARCHIVE" ] || fail "$ARCHIVE is not there. Nothing was written"
manifests=$here/Cargo.toml
[ ! -f "$here/../../Cargo.toml" ] || manifests="$manifests $here/../../Cargo.toml"
# shellcheck disable=SC2086 # One or two files.
[ -n "$VERSION" ] || VERSION=$(sed -n 's/^version = "\(.*\)"$/\1/p' $manifests | sed 1q)
# shellcheck disable=SC2086
repository=$(sed -n 's/^repository = "\(.*\)"$/\1/p' $manifests | sed 1q)

exported=$(sed -n 's/^ *\(wakepath_[a-z0-9_]*\);$/\1/p' "$here/wakepath.map")
wanted=
for name in $exported; do
    wanted="$wanted -Wl,-u,$name"
done
# shellcheck disable=SC2086 # A list on purpose.
"$CC" -r -nostdlib -o "$work/all.o" $wanted -Wl,--gc-sections "$ARCHIVE"
# Rust's library carries code for its own linker, which others take for theirs.
"$OBJCOPY" --remove-section=.llvmbc --remove-section=.llvmcmd --strip-debug \
    --wildcard --keep-global-symbol='wakepath_*' "$work/all.o" "$work/wakepath.o"
"$CC" -shared -o "$work/libwakepath.so.$ABI" "$work/wakepath.o" \
    -Wl,-soname,"libwakepath.so.$ABI" -Wl,--version-script="$here/wakepath.map" \
    -Wl,--gc-sections -Wl,--no-undefined -Wl,-z,relro -Wl,-z,now -Wl,-s -lpthread -ldl -lm
(cd -- "$work" && ar rcD libwakepath.a wakepath.o)

# Whether pointers have 4 or 8 bytes, from the object's head.
case $(od -An -tu1 -j4 -N1 "$work/wakepath.o" | tr -d ' ') in
1) pointer=4 ;;
*) pointer=8 ;;
esac
# From the libraries up to the prefix.
up=$(printf '%s\n' "$LIBDIR" | sed 's,[^/][^/]*,..,g')
filled() {
    sed -e "s,@VERSION@,$VERSION,g" -e "s,@ABI@,$ABI,g" -e "s,@POINTER@,$pointer,g" -e "s,@UP@,$up,g" \
        -e "s,@PREFIX@,../$up,g" -e "s,@REPOSITORY@,$repository,g" "$here/packaging/$1"
}

libraries=$PREFIX/$LIBDIR
umask 022
mkdir -p -- "$PREFIX/include" "$libraries/pkgconfig" "$libraries/cmake/wakepath"
cp -- "$here"/include/wakepath*.h* "$PREFIX/include/"
cp -- "$work/libwakepath.so.$ABI" "$work/libwakepath.a" "$libraries/"
chmod 0644 "$libraries/libwakepath.so.$ABI" "$libraries/libwakepath.a"
# What -lwakepath finds. Not a link: archives, wheels and the installer carry plain files.
printf '/* The shared library for linkers. */\nINPUT(libwakepath.so.%s)\n' "$ABI" >"$libraries/libwakepath.so"
filled wakepath.pc >"$libraries/pkgconfig/wakepath.pc"
for file in wakepathConfig.cmake wakepathConfigVersion.cmake; do
    filled "$file" >"$libraries/cmake/wakepath/$file"
done
# A prefix in AMENT_PREFIX_PATH has the package of this name.
mkdir -p -- "$PREFIX/share/wakepath" "$PREFIX/share/ament_index/resource_index/packages"
filled package.xml >"$PREFIX/share/wakepath/package.xml"
: >"$PREFIX/share/ament_index/resource_index/packages/wakepath"
