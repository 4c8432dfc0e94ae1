#!/bin/sh
# wakepath's hand on a board: one word of work per call, over ssh, as the board's ordinary account. It
# starts runs that outlive the connection, says how they are, and reads out what they left. It is no
# daemon: nothing of it runs between calls but the measurement itself.
#
#   sh board WORD ARGUMENTS...         as wakepath-fleet calls it
#   command="sh …/board restricted"    as a forced command: starts what lies in allowed/, reads, no more
#
# Needs a POSIX shell, flock, setsid, sha256sum, tail -c, timeout and df: coreutils with util-linux, or busybox.

set -u
set -f
umask 077
LC_ALL=C
export LC_ALL

here=${0%/*}
cd "$here" || exit 1
here=$(pwd)
spool=$here/spool

refuse() {
    echo "refused: $*"
    exit 64
}

# A word that is a name and nothing else.
is_name() {
    case $1 in
    '' | .* | -* | *[!A-Za-z0-9._-]*) return 1 ;;
    esac
    [ ${#1} -le 100 ]
}

is_number() {
    case $1 in
    '' | *[!0-9]*) return 1 ;;
    esac
    [ ${#1} -le 15 ]
}

is_digest() {
    case $1 in
    *[!0-9a-f]*) return 1 ;;
    esac
    [ ${#1} -eq 64 ]
}

seconds_up() {
    read -r up rest </proc/uptime
    echo "${up%.*}"
}

boot() {
    cat /proc/sys/kernel/random/boot_id
}

# Room where runs lie, KiB.
free() {
    df -Pk "$here" | while read -r _ _ _ room _; do echo "$room"; done | tail -n 1
}

# Whether a lock is held by somebody.
is_held() {
    [ -e "$1" ] && ! flock -n "$1" true
}

# The job that measures now.
measuring() {
    is_held "$here/lock" && cat "$here/measuring" 2>/dev/null
}

hello() {
    echo "board 1"
    echo "time $(date +%s)"
    echo "up $(seconds_up)"
    echo "boot $(boot)"
    echo "arch $(uname -m)"
    echo "kernel $(uname -r)"
    echo "free $(free)"
    [ -r "$here/program" ] && echo "program $(cat "$here/program")"
    busy=$(measuring) && echo "measuring ${busy:-something}"
    [ -n "$restricted" ] && echo "restricted"
    for tool in flock setsid sha256sum timeout; do
        command -v "$tool" >/dev/null || echo "lacks $tool"
    done
    echo "end"
}

# clear DIRECTORY WORD: what calls of a word began there as .NAME.PROCESS and were killed over. A number that
# is another process's by now is told by its words.
clear() {
    find "$1" -maxdepth 1 -name '.?*.*' 2>/dev/null | while read -r left; do
        process=${left##*.}
        case $process in
        '' | *[!0-9]*) continue ;;
        esac
        # Of a restricted account the words are not on its command line.
        { tr '\000' ' ' <"/proc/$process/cmdline"; } 2>/dev/null | grep -q -e " $2 " -e " restricted " ||
            rm -rf "$left"
    done
}

# Takes the program on standard input; what is not what was promised is thrown away.
take_program() {
    [ -z "$restricted" ] || refuse "this account may not put programs here"
    is_digest "${1-}" || refuse "no digest"
    mkdir -p "$here/programs" || exit 1
    clear "$here/programs" take-program
    new=$here/programs/.$1.$$
    cat >"$new" || {
        rm -f "$new"
        refuse "the program can't be written"
    }
    found=$(sha256sum <"$new")
    if [ "${found%% *}" != "$1" ]; then
        rm -f "$new"
        refuse "what came is not the program that was sent"
    fi
    chmod 755 "$new" && mv "$new" "$here/programs/$1" || exit 1
    "$here/programs/$1" --version >/dev/null 2>&1 || {
        rm -f "$here/programs/$1"
        refuse "the program does not start on this machine"
    }
    echo "$1" >"$here/.program.$$" && mv "$here/.program.$$" "$here/program" || exit 1
    # The program before stays for the runs that it made; older ones go.
    echo "taken $1"
}

# start JOB PROGRAM LIMIT_SECONDS BOARD SCENARIO: begins a run that nobody waits for. A scenario called - is
# on standard input.
start() {
    is_name "${1-}" || refuse "no name of a job"
    is_digest "${2-}" || refuse "no digest"
    is_number "${3-}" || refuse "no limit"
    is_name "${4-}" || refuse "no name of a board"
    job=$1 program=$here/programs/$2 limit=$3 board=$4 scenario=${5-}
    [ -x "$program" ] || refuse "the program $2 is not here: wakepath-fleet push"
    place=$spool/$job
    if [ -e "$place" ]; then
        cat >/dev/null
        echo "already"
        exit 0
    fi
    mkdir -p "$spool" || refuse "no room: $spool can't be made"
    clear "$spool" start
    new=$spool/.$job.$$
    mkdir "$new" || refuse "no room: $new can't be made"
    # Room for the last words, kept from the run.
    if ! dd if=/dev/zero of="$new/reserve" bs=1024 count=256 2>/dev/null; then
        rm -rf "$new"
        refuse "no room: the disk is full"
    fi
    # What was ordered is sealed with the run: the scenario's text, or the name of one that is here.
    asked=$(printf %s "$scenario" | sha256sum)
    if [ "$scenario" = - ]; then
        [ -z "$restricted" ] || {
            rm -rf "$new"
            refuse "this account runs scenarios of allowed/ and built-in ones alone"
        }
        cat >"$new/scenario.toml" || {
            rm -rf "$new"
            refuse "no room: the disk is full"
        }
        asked=$(sha256sum <"$new/scenario.toml")
        scenario=scenario.toml
    else
        is_name "$scenario" || {
            rm -rf "$new"
            refuse "no name of a scenario"
        }
        if [ -r "$here/allowed/$scenario.toml" ]; then
            cp "$here/allowed/$scenario.toml" "$new/scenario.toml"
            scenario=scenario.toml
        fi
    fi
    echo "time $(date +%s) up $(seconds_up) boot $(boot)" >"$new/begun"
    : >"$new/lock"
    exec 9>"$here/lock"
    # Whoever only asks holds it for an instant.
    flock -n 9 || sleep 1
    if ! flock -n 9; then
        rm -rf "$new"
        refuse "busy: $(cat "$here/measuring" 2>/dev/null) is measuring"
    fi
    echo "$job" >"$here/measuring"
    mv "$new" "$place" || exit 1
    sync
    # A session of its own: a lost link ends nothing.
    setsid sh "$here/board" carry-out "$job" "$program" "$limit" "$board" "$scenario" "${asked%% *}" \
        </dev/null >/dev/null 2>&1 &
    # It has the lock from here on, by the descriptor that it inherits.
    echo "started"
}

carry_out() {
    job=$1 program=$2 limit=$3 board=$4 scenario=$5 asked=$6
    cd "$spool/$job" || exit 1
    exec 8>lock
    flock 8 || exit 1
    timeout -k 30 "$limit" "$program" run "$scenario" --directory run --no-tui \
        </dev/null >output 2>&1 8>&- 9>&-
    code=$?
    up=$(seconds_up)
    now=$(date +%s)
    room=$(free)
    rm -f reserve
    if [ -r "$here/key" ] && [ -d run ]; then
        "$program" seal run --key "$here/key" --board "$board" --job "$job" --scenario-sha256 "$asked" >sealed 2>&1 8>&- 9>&- ||
            echo "not sealed: $(tail -n 1 sealed)" >>output
    fi
    sums >sums.new && mv sums.new sums
    echo "code $code free $room time $now up $up boot $(boot)" >exit.new && mv exit.new exit
    sync
}

# A line for each file that is to be fetched: digest, size, name.
sums() {
    find output run -type f 2>/dev/null | sort | while read -r name; do
        found=$(sha256sum <"$name") || exit 1
        echo "${found%% *} $(wc -c <"$name" | tr -d ' ') $name"
    done
}

state() {
    is_name "${1-}" || refuse "no name of a job"
    place=$spool/$1
    if [ ! -d "$place" ]; then
        echo "unknown"
    elif [ -e "$place/exit" ]; then
        echo "begun $(cat "$place/begun")"
        echo "ended $(cat "$place/exit")"
    elif is_held "$place/lock" || { is_held "$here/lock" && [ "$(cat "$here/measuring")" = "$1" ]; }; then
        echo "begun $(cat "$place/begun")"
        echo "measuring"
    else
        echo "begun $(cat "$place/begun")"
        echo "gone free $(free)"
    fi
    echo "time $(date +%s) up $(seconds_up) boot $(boot)"
    echo "end"
}

not_while_measuring() {
    busy=$(measuring) && refuse "busy: ${busy:-something} is measuring"
    is_name "${1-}" || refuse "no name of a job"
    [ -e "$spool/$1/exit" ] || refuse "the run has not ended"
    cd "$spool/$1" || exit 1
}

list() {
    not_while_measuring "${1-}"
    cat sums
    echo "end"
}

# read JOB NAME OFFSET: a file from there on.
read_out() {
    not_while_measuring "${1-}"
    is_number "${3-}" || refuse "no offset"
    case ${2-} in
    output | run/*) ;;
    *) refuse "no file of a run" ;;
    esac
    case $2 in
    *..* | *[!A-Za-z0-9._/-]*) refuse "no file of a run" ;;
    esac
    [ -f "$2" ] || refuse "no such file"
    [ ! -L "$2" ] || refuse "no such file"
    exec tail -c "+$(($3 + 1))" "$2"
}

remove() {
    not_while_measuring "${1-}"
    cd "$here" && rm -rf "${spool:?}/$1" && echo "removed"
}

# As root: by itself, or by sudo where that asks for nothing.
as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    else
        command -v sudo >/dev/null || refuse "root is needed, and sudo is not there"
        sudo -n "$@"
    fi
}

# tune WORDS...: what wakepath tune says, with its exit code at the end.
tune() {
    busy=$(measuring) && refuse "busy: ${busy:-something} is measuring"
    [ -r "$here/program" ] || refuse "no program is there: wakepath-fleet push"
    as_root "$here/programs/$(cat "$here/program")" tune "$@" </dev/null 2>&1
    echo "code $?"
    echo "end"
}

# reboot HOW ENTRY: boots an entry once, whatever comes of it; the boot after that is the usual one.
boot_once() {
    busy=$(measuring) && refuse "busy: ${busy:-something} is measuring"
    case ${2-} in
    '' | -* | *[!A-Za-z0-9._+\>-]*) refuse "no name of a boot entry" ;;
    esac
    how=$1
    if [ "$how" = auto ]; then
        if [ -e /boot/firmware/tryboot.txt ] || [ -e /boot/tryboot.txt ]; then
            how=tryboot
        elif command -v bootctl >/dev/null && bootctl is-installed >/dev/null 2>&1; then
            how=systemd-boot
        else
            how=grub
        fi
    fi
    case $how in
    tryboot) set -- reboot "0 tryboot" ;;
    systemd-boot)
        as_root bootctl set-oneshot "$2" >/dev/null || refuse "bootctl takes no entry $2"
        set -- reboot
        ;;
    grub)
        tool=$(command -v grub-reboot || command -v grub2-reboot) || refuse "no boot loader that boots an entry once"
        as_root "$tool" "$2" || refuse "grub takes no entry $2"
        set -- reboot
        ;;
    usual) set -- reboot ;;
    *) refuse "no such boot loader: $how" ;;
    esac
    echo "boot $(boot)"
    echo "end"
    sync
    # After this call has ended, so that its answer arrives.
    (
        sleep 1
        as_root "$@"
    ) </dev/null >/dev/null 2>&1 &
}

restricted=
if [ "${1-}" = restricted ]; then
    restricted=yes
    # shellcheck disable=SC2086 # Split into words, with no file names made of them.
    set -- ${SSH_ORIGINAL_COMMAND-}
    [ "${1-}" = sh ] || refuse "this account runs wakepath-fleet's words alone"
    [ $# -ge 3 ] || refuse "this account runs wakepath-fleet's words alone"
    shift 2
    case ${1-} in
    hello | start | state | list | read | remove) ;;
    *) refuse "this account may not: ${1-}" ;;
    esac
fi
word=${1-}
[ $# -gt 0 ] && shift
case $word in
hello) hello ;;
take-program) take_program "$@" ;;
start) start "$@" ;;
carry-out) carry_out "$@" ;;
state) state "$@" ;;
list) list "$@" ;;
read) read_out "$@" ;;
remove) remove "$@" ;;
tune) tune "$@" ;;
reboot) boot_once "$@" ;;
*) refuse "no such word: $word" ;;
esac
