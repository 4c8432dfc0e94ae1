#!/bin/sh
# Instructions per controller call and per plant step, counted by callgrind: unlike times, the same
# on a busy machine. Needs valgrind. Run from anywhere in the workspace.
#
# Each figure is the difference of two runs, so that start-up costs nothing.
set -eu
cargo build --quiet --release -p wakepath-flight --example repeat
target=${CARGO_TARGET_DIR:-$(cargo metadata --no-deps --format-version 1 |
    sed 's/.*"target_directory":"\([^"]*\)".*/\1/')}
program=$target/release/examples/repeat
count() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$program" "$@" 2>&1 |
        sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
}
for vehicle in hummingbird crazyflie; do
    for what in controller plant; do
        few=$(count "$what" "$vehicle" 1000)
        many=$(count "$what" "$vehicle" 11000)
        echo "$vehicle: $(((many - few) / 10000)) instructions per $what call"
    done
done
