#!/bin/sh
# Builds the autopilot in C++, has Python find its module, and records both with each way of logging, in turns:
# `wakepath run aura-logging`. What it builds and records lies in ./aura-logging.
set -eu

USAGE="Usage: sh run.sh [--short] [--language c++|python] [-- ARGUMENTS]

  --short            a minute and a half in place of 13 minutes; too short for a verdict
  --language NAME    c++ or python alone
  ARGUMENTS          for wakepath run, such as --policy OTHER or --trace

Needs wakepath, with its library for C++ (pkg-config knows it) and its module for Python (pip install wakepath)."

fail() {
    printf 'run.sh: %s\n' "$*" >&2
    exit 1
}

LANGUAGE=
DURATION=
while [ $# -gt 0 ]; do
    case $1 in
    --short)
        DURATION=55s
        shift
        ;;
    --language)
        case ${2:-} in
        c++ | python) LANGUAGE=$2 ;;
        *) fail "--language is c++ or python, not '${2:-}'" ;;
        esac
        shift 2
        ;;
    -h | --help)
        printf '%s\n' "$USAGE"
        exit 0
        ;;
    --)
        shift
        break
        ;;
    *) fail "unknown argument $1; sh run.sh --help lists all" ;;
    esac
done
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
command -v wakepath >/dev/null 2>&1 || fail "no wakepath on the PATH: see docs/guide/install.md"

mkdir -p aura-logging
cd aura-logging
if [ "$LANGUAGE" != python ]; then
    pkg-config --exists wakepath ||
        fail "pkg-config knows no wakepath: sh crates/c-library/install.sh --prefix DIRECTORY, and
        PKG_CONFIG_PATH=DIRECTORY/lib/pkgconfig; or --language python"
    # The library goes into the program: it runs wherever it is. Python computes without fused operations, too.
    # shellcheck disable=SC2046 # Flags are words.
    "${CXX:-c++}" -std=c++17 -O2 -ffp-contract=off -Wall -Wextra "$here/autopilot.cpp" \
        $(pkg-config --cflags wakepath) $(pkg-config --variable=static wakepath) -lpthread -ldl -lm -o autopilot
fi
if [ "$LANGUAGE" != c++ ]; then
    python3 -c 'import wakepath; wakepath.Loop' 2>/dev/null ||
        fail "python3 has no loop of wakepath: pip install wakepath; or --language c++"
    cp "$here/autopilot.py" .
fi

scenario=aura-logging
if [ -n "$LANGUAGE" ]; then
    # The phases of one language alone: each begins with its heading, and the criterion ends the last.
    scenario=one-language.toml
    wakepath scenario show aura-logging | awk -v wanted="$LANGUAGE" '
        function put() { if (held != "" && tolower(held) ~ "name = \"" (wanted == "python" ? "python" : "c[+][+]")) printf "%s", held; held = "" }
        /^\[\[phases\]\]/ { put(); in_phase = 1 }
        /^\[criterion\]/ { put(); in_phase = 0 }
        in_phase { held = held $0 "\n"; next }
        { print }' >"$scenario"
fi
printf 'runs are in %s: type the commands that follow there\n' "$PWD" >&2
exec wakepath run "$scenario" ${DURATION:+--duration "$DURATION"} "$@"
