# What `check` and `test` need on a machine: read by both with `.`, not run by itself.
# Installs only what is missing, and only where it may; otherwise says what is missing.

say() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }

# Rust 1.95 or newer, or an explanation.
need_rust() {
    if ! command -v cargo >/dev/null 2>&1 && [ -x "$HOME/.cargo/bin/cargo" ]; then
        PATH="$HOME/.cargo/bin:$PATH"
    fi
    if ! command -v cargo >/dev/null 2>&1; then
        say "no Rust toolchain here. Get one from https://rustup.rs (1.95 or newer), then run this again."
        exit 1
    fi
    # Asked in this directory, so that a toolchain chosen for it counts.
    version=$(rustc --version 2>/dev/null | cut -d' ' -f2)
    major=${version%%.*}
    minor=${version#*.}
    minor=${minor%%.*}
    if [ "${major:-0}" -lt 1 ] || { [ "$major" -eq 1 ] && [ "${minor:-0}" -lt 95 ]; }; then
        say "Rust ${version:-of an unknown version} is too old: 1.95 or newer is needed. \`rustup update\` brings it."
        exit 1
    fi
}

# Runs a command as root: directly, or by sudo where that asks for no password or can ask.
as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif command -v sudo >/dev/null 2>&1 && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
        sudo "$@"
    else
        return 1
    fi
}

# need_packages PROGRAM=DEBIAN[=FEDORA]...: installs the packages of the programs that are missing.
# Where the names are equal the last may be left out; "-" means that there is no such package.
need_packages() {
    wanted=
    for entry in "$@"; do
        program=${entry%%=*}
        names=${entry#*=}
        debian=${names%%=*}
        fedora=${names#*=}
        case $program in
        /*) [ -e "$program" ] && continue ;;
        *) PATH="$PATH:/usr/sbin:/sbin" command -v "$program" >/dev/null 2>&1 && continue ;;
        esac
        if command -v apt-get >/dev/null 2>&1; then name=$debian; else name=$fedora; fi
        [ "$name" = - ] || wanted="$wanted $name"
    done
    [ -n "$wanted" ] || return 0
    say "installing packages:$wanted"
    # The names are a list on purpose.
    # shellcheck disable=SC2086
    if command -v apt-get >/dev/null 2>&1; then
        export DEBIAN_FRONTEND=noninteractive
        as_root apt-get install -y -qq $wanted >/dev/null 2>&1 && return 0
        as_root apt-get update -qq >/dev/null 2>&1
        as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
            $wanted >/dev/null && return 0
        # One package that can't be had must not keep the others away.
        for name in $wanted; do
            as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
                --no-install-recommends "$name" >/dev/null 2>&1 || say "can't be installed: $name"
        done
    elif command -v dnf >/dev/null 2>&1; then
        for name in $wanted; do
            as_root dnf install -y -q "$name" >/dev/null 2>&1 || say "can't be installed: $name"
        done
    else
        say "neither apt-get nor dnf is here; please install:$wanted"
    fi
    return 0
}

# Whether the standard library of a target is here; fetches it with rustup where it isn't.
has_target() {
    target_there "$1" && return 0
    command -v rustup >/dev/null 2>&1 || return 1
    # Bounded: a server that doesn't answer must not hold everything up.
    timeout 300 rustup target add "$1" >/dev/null 2>&1
    target_there "$1"
}

target_there() {
    ls "$(rustc --print target-libdir --target "$1" 2>/dev/null)"/libstd-* >/dev/null 2>&1
}

# Makes target/schema-validators: ajv and check-jsonschema, for the stage `schema`. Bounded, as below.
schema_validators() {
    at=target/schema-validators
    [ ! -e "$at/complete" ] || return 0
    if timeout 120 npm install --prefix "$at" --no-audit --no-fund --silent ajv@8 >/dev/null 2>&1 &&
        python3 -m venv --clear "$at/python" >/dev/null 2>&1 &&
        timeout 300 "$at/python/bin/python" -m pip install -q --disable-pip-version-check check-jsonschema \
            >/dev/null 2>&1; then
        : >"$at/complete"
    else
        say "ajv and check-jsonschema are not both available"
    fi
}

# Makes target/axe: axe-core, which judges the report's pages. Bounded, as above.
axe() {
    at=target/axe
    [ ! -e "$at/complete" ] || return 0
    if timeout 120 npm install --prefix "$at" --no-audit --no-fund --silent axe-core@4 >/dev/null 2>&1; then
        : >"$at/complete"
    else
        say "axe-core is not available"
    fi
}

# Makes environments for the tests of the Python package in target/python-environments: for `python3`, and for the
# oldest and the newest other version that is here, 3.9 or later. The first gets what runs are read with, too.
python_environments() {
    for python in python3 /usr/bin/python3 python3.9 python3.10 python3.11 python3.12 python3.13 python3.14 \
        "$HOME"/.pyenv/versions/3.*/bin/python3; do
        "$python" -c 'import sys
if sys.version_info >= (3, 9):
    print("%d.%d" % sys.version_info[:2], sys.executable)' 2>/dev/null
    done >target/pythons
    first=$(sed 1q target/pythons)
    for chosen in "$first" "$(sort -V target/pythons | sed 1q)" "$(sort -V target/pythons | sed -n '$p')"; do
        at=target/python-environments/${chosen%% *}
        wanted=pytest
        [ "$chosen" != "$first" ] || wanted='pytest numpy pyarrow polars pandas matplotlib mypy'
        [ -n "$chosen" ] || continue
        [ ! -e "$at/complete" ] || continue
        # The names are a list on purpose. Bounded: a server that doesn't answer must not hold everything up.
        # shellcheck disable=SC2086
        if "${chosen#* }" -m venv --clear "$at" >/dev/null 2>&1 &&
            timeout 300 "$at/bin/python" -m pip install -q --disable-pip-version-check $wanted >/dev/null 2>&1; then
            : >"$at/complete"
        else
            say "no environment with $wanted for Python ${chosen%% *} is available"
        fi
    done
}
