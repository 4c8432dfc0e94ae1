#!/bin/sh
# Installs wakepath @VERSION@ from its archive, or takes it away again. It writes nothing before the
# archive's SHA-256 is the one that stands in here; needs no root for a directory of yours; gives no
# rights to anybody.
#
# All of it is one function that the last line calls, so that half a download of this file does nothing.
set -eu

VERSION=@VERSION@
URL=@REPOSITORY@/releases/download/v$VERSION
USAGE="Usage: sh install.sh [--prefix DIRECTORY] [--from PLACE] [--target MACHINE] [--uninstall]

  --prefix DIRECTORY  where to: DIRECTORY/bin and DIRECTORY/share
                      (/usr/local as root, ~/.local otherwise)
  --from PLACE        where the archives are: a directory, or a URL other than
                      $URL
  --target MACHINE    x86_64, aarch64 or armv7: another machine than this one
  --uninstall         take away all that this put under the prefix

This file installs version $VERSION and no other."

# SHA-256 of the archives, as sha256sum writes them.
check_sums() {
    cat <<'END'
@CHECK_SUMS@
END
}

say() { printf 'install.sh: %s\n' "$*" >&2; }
fail() {
    say "$*"
    exit 1
}

need() {
    for tool in "$@"; do
        command -v "$tool" >/dev/null 2>&1 || fail "no $tool here, which this needs. Nothing was written"
    done
}

find_sha256() {
    for SHA256 in 'sha256sum' 'shasum -a 256' 'openssl dgst -sha256 -r'; do
        command -v "${SHA256%% *}" >/dev/null 2>&1 && return 0
    done
    fail "neither sha256sum nor shasum nor openssl is here to verify the archive. Nothing was written"
}

fetch() {
    case $1 in
    http://* | https://*)
        if command -v curl >/dev/null 2>&1; then
            curl --fail --silent --show-error --location --retry 2 --output "$2" "$1" </dev/null
        elif command -v wget >/dev/null 2>&1; then
            wget -q -O "$2" "$1" </dev/null
        else
            fail "neither curl nor wget is here; fetch $1 by other means, then: sh install.sh --from ITS-DIRECTORY"
        fi || fail "$1 can't be fetched. Nothing was written"
        ;;
    *)
        [ -f "$1" ] || fail "$1 is not there. Nothing was written"
        cat <"$1" >"$2" || fail "$1 can't be read. Nothing was written"
        ;;
    esac
}

triple_of() {
    case $1 in
    x86_64 | amd64 | x86_64-unknown-linux-musl) echo x86_64-unknown-linux-musl ;;
    aarch64 | arm64 | aarch64-unknown-linux-musl) echo aarch64-unknown-linux-musl ;;
    armv7 | armv7l | armv8l | armv7-unknown-linux-gnueabihf) echo armv7-unknown-linux-gnueabihf ;;
    *) fail "there is no wakepath for $1; there is for x86_64, aarch64 and armv7. Nothing was written" ;;
    esac
}

# The nearest directory above that is there.
nearest() {
    above=$1
    while [ ! -d "$above" ]; do
        above=$(dirname -- "$above")
    done
    (cd -P -- "$above" && pwd -P)
}

# What root writes must lie where nobody else can exchange a directory for a link. Group staff owns
# /usr/local on older Debian.
refuse_untrusted() {
    [ "$(id -u)" -eq 0 ] || return 0
    at=$(nearest "$1")
    while :; do
        # Owner, group and mode are three words.
        # shellcheck disable=SC2046
        set -- $(stat -c '%u %G %a' -- "$at")
        [ "$1" -eq 0 ] || fail "$at is not root's: install there without sudo. Nothing was changed"
        case $3 in
        *[2367]) fail "everybody can write to $at: as root, choose another --prefix. Nothing was changed" ;;
        *[2367]?)
            case $2 in
            root | staff) ;;
            *) fail "group $2 can write to $at: as root, choose another --prefix. Nothing was changed" ;;
            esac
            ;;
        esac
        [ "$at" = / ] && return 0
        at=$(dirname -- "$at")
    done
}

# The lines of a kind in the list of what was installed: plain paths below the prefix, never above.
listed() {
    [ -f "$LIST" ] && [ ! -L "$LIST" ] || return 0
    sed -n "s/^$1 //p" "$LIST" | grep -E '^(bin|share|include|lib)(/[A-Za-z0-9_][A-Za-z0-9_.-]*)*$' || :
}

# The directories that these files lie in.
directories_of() {
    # Words on purpose: none of the paths has a space.
    # shellcheck disable=SC2086
    printf '%s\n' $1 | sed 's,/[^/]*$,,' | sort -u
}

part_of() { printf '%s/.%s.wakepath-part' "$(dirname -- "$1")" "$(basename -- "$1")"; }

# Takes back what is half done: staged files, directories made for them, the new list.
tidy() {
    code=$?
    trap - EXIT HUP INT TERM
    if [ -n "${STAGED:-}" ]; then
        for path in $STAGED; do
            rm -f -- "$(part_of "$PREFIX/$path")"
        done
        rm -f -- "$LIST.part"
        # The list as it was, beside it, so that no room is needed to take it back.
        if [ -n "${BEFORE:-}" ]; then
            mv -f -- "$LIST.before" "$LIST" 2>/dev/null || :
        else
            rm -f -- "$LIST"
        fi
        remove_directories "${MADE:-}"
        [ -z "${PREFIX_MADE:-}" ] || rmdir -- "$PREFIX" 2>/dev/null || :
    fi
    [ -z "${WORK:-}" ] || rm -rf -- "$WORK"
    exit "$code"
}

# The deepest first; those that hold something else stay.
remove_directories() {
    for path in $(printf '%s\n' "$1" | sort -r); do
        rmdir -- "$PREFIX/$path" 2>/dev/null || :
    done
}

install() {
    need tar gzip mktemp sed grep sort find cut
    find_sha256
    [ "$(id -u)" -ne 0 ] || need stat
    triple=$(triple_of "${TARGET:-$(uname -m)}")
    archive=wakepath-$VERSION-$triple.tar.gz
    expected=$(check_sums | sed -n "s/^\([0-9a-f]\{64\}\)  $archive\$/\1/p")
    [ -n "$expected" ] || fail "this release has no $archive. Nothing was written"
    refuse_untrusted "$PREFIX"
    [ -w "$(nearest "$PREFIX")" ] ||
        fail "you can't write to $PREFIX: sudo sh install.sh, or --prefix a directory of yours"

    WORK=$(mktemp -d "${TMPDIR:-/tmp}/wakepath-install.XXXXXXXX") || fail "no temporary directory can be made"
    fetch "$FROM/$archive" "$WORK/archive.tar.gz"
    # A command with its options.
    # shellcheck disable=SC2086
    found=$($SHA256 <"$WORK/archive.tar.gz" | cut -c 1-64)
    [ "$found" = "$expected" ] ||
        fail "$archive is not what was released: SHA-256 $found instead of $expected. Nothing was written"
    gzip -dc <"$WORK/archive.tar.gz" >"$WORK/archive.tar" || fail "$archive can't be unpacked. Nothing was written"
    (cd -- "$WORK" && tar -xf archive.tar) || fail "$archive can't be unpacked. Nothing was written"
    tree=$WORK/wakepath-$VERSION-$triple
    files=$(cd -- "$tree" && find bin share include lib -type f 2>/dev/null | sort)

    refuse_what_is_not_ours
    put_in_place
    say "wakepath $VERSION is in $PREFIX/bin"
    case ":$PATH:" in
    *":$PREFIX/bin:"*) say 'next: wakepath check --quick' ;;
    *) say "which is not in your PATH; next: $PREFIX/bin/wakepath check --quick" ;;
    esac
}

# A file, link or directory that this did not put there stays as it is.
refuse_what_is_not_ours() {
    ours=$(listed file)
    if [ -L "$LIST" ]; then fail "$LIST is a link: it is not this installer's. Nothing was changed"; fi
    for path in $(directories_of "$files"); do
        refuse_untrusted "$PREFIX/$path"
        [ -w "$(nearest "$PREFIX/$path")" ] || fail "you can't write to $PREFIX/$path. Nothing was changed"
    done
    for path in $files; do
        target=$PREFIX/$path
        if [ -L "$target" ] || { [ -e "$target" ] && [ ! -f "$target" ]; }; then
            fail "$target is a link or a directory: it is not this installer's. Remove it first. Nothing was changed"
        elif [ -e "$target" ] && ! printf '%s\n' "$ours" | grep -Fqx -- "$path"; then
            fail "$target was there before and is not this installer's. Remove it first. Nothing was changed"
        fi
    done
}

put_in_place() {
    umask 022
    MADE=
    BEFORE=
    gone=
    STAGED="$files"
    if [ -f "$LIST" ]; then
        if ! cp -- "$LIST" "$LIST.new"; then
            rm -f -- "$LIST.new"
            STAGED=
            fail "$PREFIX: no room? Nothing was changed"
        fi
        mv -f -- "$LIST.new" "$LIST.before"
        BEFORE=yes
    fi
    PREFIX_MADE=$(grep -x 'prefix made' -- "$LIST" 2>/dev/null || :)
    [ -d "$PREFIX" ] || PREFIX_MADE='prefix made'
    for path in $(directories_of "$files share/wakepath/installed"); do
        make_directories "$path"
    done
    for path in $(listed file); do
        printf '%s\n' "$files" | grep -Fqx -- "$path" || gone="$gone $path"
    done
    # Old and new together, before the first file: whatever breaks off, --uninstall finds all of it.
    write_list "$files $gone"
    for path in $files; do
        part=$(part_of "$PREFIX/$path")
        rm -f -- "$part"
        cp -- "$tree/$path" "$part" || fail "$PREFIX: no room? Nothing was changed"
        case $path in bin/*) chmod 0755 "$part" ;; *) chmod 0644 "$part" ;; esac
    done
    if [ -z "${TARGET:-}" ]; then
        "$(part_of "$PREFIX/bin/wakepath")" --version </dev/null >/dev/null 2>&1 ||
            fail "wakepath does not start from $PREFIX/bin (mounted noexec?). Nothing was changed"
    fi
    # From here on the list is right, whatever happens.
    trap 'rm -rf -- "$WORK"; rm -f -- "$LIST.before"' EXIT
    for path in $files; do
        mv -f -- "$(part_of "$PREFIX/$path")" "$PREFIX/$path"
    done
    for path in $gone; do
        rm -f -- "$PREFIX/$path"
    done
    write_list "$files"
    know_libraries "$files"
    # Who granted rights before meant the program, not the file that was replaced.
    if [ "$(id -u)" -eq 0 ] && [ -z "${TARGET:-}" ]; then
        "$PREFIX/bin/wakepath-rights" apply </dev/null || :
    fi
}

# Has the linker of this machine see which libraries there are, where root changed them.
know_libraries() {
    case $1 in
    *libwakepath.so*) ;;
    *) return 0 ;;
    esac
    if [ "$(id -u)" -eq 0 ] && [ -z "${TARGET:-}" ] && command -v ldconfig >/dev/null 2>&1; then
        ldconfig </dev/null >/dev/null 2>&1 || :
    fi
}

make_directories() {
    path=$1
    new=
    while [ "$path" != . ] && [ ! -d "$PREFIX/$path" ]; do
        new="$path $new"
        path=$(dirname -- "$path")
    done
    mkdir -p -- "$PREFIX/$1" || fail "$PREFIX/$1 can't be made"
    for path in $new; do
        MADE="$MADE
$path"
    done
}

write_list() {
    {
        printf 'version %s\n' "$VERSION"
        [ -z "$PREFIX_MADE" ] || printf '%s\n' "$PREFIX_MADE"
        { listed directory && printf '%s\n' "$MADE"; } | sed -n 's/^..*$/directory &/p' | sort -u
        # shellcheck disable=SC2086
        printf 'file %s\n' $1
    } >"$LIST.part"
    mv -f -- "$LIST.part" "$LIST"
}

uninstall() {
    need sed grep sort
    [ "$(id -u)" -ne 0 ] || need stat
    if [ -L "$LIST" ] || [ ! -f "$LIST" ]; then
        fail "nothing that this installed is in $PREFIX; another --prefix?"
    fi
    refuse_untrusted "$PREFIX/share/wakepath"
    [ -w "$PREFIX/share/wakepath" ] || fail "you can't write to $PREFIX: sudo sh install.sh --uninstall"
    files=$(listed file)
    directories=$(listed directory)
    prefix_made=$(grep -x 'prefix made' -- "$LIST" || :)
    for path in $(directories_of "$files"); do
        refuse_untrusted "$PREFIX/$path"
    done
    if [ "$(id -u)" -eq 0 ] && [ -x "$PREFIX/bin/wakepath-rights" ]; then
        "$PREFIX/bin/wakepath-rights" revoke </dev/null || :
    fi
    for path in $files; do
        if [ -d "$PREFIX/$path" ] && [ ! -L "$PREFIX/$path" ]; then
            say "$PREFIX/$path is a directory by now and stays"
        else
            rm -f -- "$PREFIX/$path"
        fi
        rm -f -- "$(part_of "$PREFIX/$path")"
    done
    rm -f -- "$LIST" "$LIST.part" "$LIST.new" "$LIST.before"
    remove_directories "$directories"
    know_libraries "$files"
    [ -z "$prefix_made" ] || rmdir -- "$PREFIX" 2>/dev/null || :
    say "wakepath is gone from $PREFIX; recordings (wakepath-runs) stay where they are"
}

main() {
    PREFIX=
    FROM=$URL
    TARGET=
    verb=install
    while [ $# -gt 0 ]; do
        case $1 in
        --prefix | --from | --target)
            [ -n "${2:-}" ] || fail "$1 needs a value"
            case $1 in
            --prefix) PREFIX=$2 ;;
            --from) FROM=$2 ;;
            --target) TARGET=$2 ;;
            esac
            shift
            ;;
        --prefix=?*) PREFIX=${1#--prefix=} ;;
        --from=?*) FROM=${1#--from=} ;;
        --target=?*) TARGET=${1#--target=} ;;
        --uninstall) verb=uninstall ;;
        -h | --help)
            printf '%s\n' "$USAGE"
            return 0
            ;;
        *) fail "unknown argument $1; sh install.sh --help lists all" ;;
        esac
        shift
    done
    [ "$(uname -s)" = Linux ] || fail 'wakepath measures Linux, and this is another system'
    if [ -z "$PREFIX" ]; then
        if [ "$(id -u)" -eq 0 ]; then PREFIX=/usr/local; else PREFIX=${HOME:?}/.local; fi
    fi
    case $PREFIX in
    /*) ;;
    *) PREFIX=$(pwd -P)/$PREFIX ;;
    esac
    case $PREFIX in
    */../* | */..) fail "--prefix without .., please" ;;
    esac
    LIST=$PREFIX/share/wakepath/installed
    trap tidy EXIT
    trap 'exit 1' HUP INT TERM
    "$verb"
}

main "$@"
