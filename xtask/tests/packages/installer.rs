//! `install.sh`, from a directory of files without a network.
//!
//! Covers its refusals, after which nothing is written.

use crate::clean_root::{need, succeeds, version};

wakepath_test_program::tests![;
    a_program_that_starts_comes_from_a_directory_and_goes_without_a_trace,
    a_user_installs_in_a_home_of_their_own,
    what_is_not_the_released_archive_is_refused_before_anything_is_written,
    a_missing_tool_is_named_before_anything_is_written,
    what_somebody_else_put_there_stays,
    root_writes_nowhere_that_others_can_change,
    an_upgrade_takes_away_what_the_next_version_lacks,
    a_disk_that_is_full_or_starts_nothing_is_left_as_it_was,
    another_machine_gets_its_own_archive_or_a_line,
    busybox_is_enough_and_fetches_by_itself,
];

fn a_program_that_starts_comes_from_a_directory_and_goes_without_a_trace() {
    let version = version();
    let said = succeeds(&format!(
        r#"
        remember
        $install
        case "$(wakepath --version)" in 'wakepath {version}'*) ;; *) wrong "$(wakepath --version)" ;; esac
        cd /tmp
        wakepath scenario check quick
        [ -s /usr/local/share/man/man1/wakepath.1 ]
        [ -s /usr/local/share/bash-completion/completions/wakepath ]
        grep -q 'Rich Felker' /usr/local/share/doc/wakepath/LICENCES-OF-OTHERS
        [ -s /usr/local/share/doc/wakepath/LICENSE-MIT ]
        has_library /usr/local/lib
        # Installing grants nothing.
        [ "$(stat -c '%U:%G %a' /usr/local/bin/wakepath)" = 'root:root 755' ]
        [ -z "$(getcap /usr/local/bin/*)" ]
        # Again is an upgrade to the same.
        $install
        [ -z "$(find /usr/local -name '*wakepath-part*')" ]
        sh /media/release/install.sh --uninstall
        unchanged
        [ -z "$(ldconfig -p | grep wakepath)" ] || wrong "the linker's list has what is gone"
        refused 'nothing that this installed' sh /media/release/install.sh --uninstall
        "#
    ));
    assert!(said.contains("next: wakepath check --quick"), "{said}");
}

fn a_user_installs_in_a_home_of_their_own() {
    succeeds(
        r#"
        remember
        visitor $install
        visitor sh -c '~/.local/bin/wakepath --version'
        [ "$(stat -c %U /home/visitor/.local/bin/wakepath)" = visitor ]
        refused "can't write to /usr/local" visitor $install --prefix /usr/local
        visitor $install --prefix '/home/visitor/with a space' 2>&1
        visitor '/home/visitor/with a space/bin/wakepath' --version
        visitor sh /media/release/install.sh --uninstall --prefix '/home/visitor/with a space'
        visitor sh /media/release/install.sh --uninstall
        unchanged
        "#,
    );
}

fn what_is_not_the_released_archive_is_refused_before_anything_is_written() {
    succeeds(
        r#"
        remember
        mkdir /tmp/there
        archive=$(cd /media/release && echo wakepath-*-x86_64-*.tar.gz)
        try() { refused "$1" sh /media/release/install.sh --from /tmp/there; unchanged; }
        try 'is not there'
        # Half a download, one byte that differs, an archive of somebody else's, nothing at all.
        head -c 100000 "/media/release/$archive" > "/tmp/there/$archive"
        try 'is not what was released'
        cp "/media/release/$archive" /tmp/there
        printf x | dd of="/tmp/there/$archive" bs=1 seek=5000 conv=notrunc status=none
        try 'is not what was released'
        tar czf "/tmp/there/$archive" -C / etc/passwd
        try 'is not what was released'
        : > "/tmp/there/$archive"
        try 'is not what was released'
        rm "/tmp/there/$archive"
        ln -s /nowhere "/tmp/there/$archive"
        try 'is not there'
        [ -z "$(find /tmp -name 'wakepath-install*')" ]
        # A check sum that was changed with the archive is in a script that was changed too: the user's trust
        # is in the script.
        refused 'unknown argument' sh /media/release/install.sh --now
        refused 'needs a value' sh /media/release/install.sh --prefix
        refused 'without ..' sh /media/release/install.sh --prefix /usr/local/../../etc
        unchanged
        "#,
    );
}

fn a_missing_tool_is_named_before_anything_is_written() {
    succeeds(
        r#"
        remember
        mkdir /tmp/few
        ln -s /usr/bin/* /tmp/few/
        rm -f /tmp/few/shasum /tmp/few/openssl
        last=
        for tool in tar gzip mktemp sed grep sort find cut stat sha256sum; do
            [ -z "$last" ] || ln -s "/usr/bin/$last" /tmp/few/
            last=$tool
            rm "/tmp/few/$tool"
            refused "$tool" env PATH=/tmp/few /bin/sh /media/release/install.sh --from /media/release
        done
        unchanged
        # From afar there must be something to fetch with; neither is in this root.
        refused 'neither curl nor wget' sh /media/release/install.sh
        unchanged
        "#,
    );
}

fn what_somebody_else_put_there_stays() {
    succeeds(
        r#"
        try() { refused "$1" $install; unchanged; }
        ln -s /etc/passwd /usr/local/bin/wakepath
        remember
        try 'is a link or a directory'
        rm /usr/local/bin/wakepath
        ln -s /etc /usr/local/bin/wakepath
        remember
        try 'is a link or a directory'
        rm /usr/local/bin/wakepath
        mkdir /usr/local/bin/wakepath
        remember
        try 'is a link or a directory'
        rmdir /usr/local/bin/wakepath
        echo mine > /usr/local/bin/wakepath
        remember
        try 'was there before'
        [ "$(cat /usr/local/bin/wakepath)" = mine ]
        rm /usr/local/bin/wakepath
        # The list of what was installed names what it shall not.
        mkdir -p /usr/local/share/wakepath
        ln -s /etc/passwd /usr/local/share/wakepath/installed
        remember
        try 'is a link'
        refused 'nothing that this installed' sh /media/release/install.sh --uninstall
        unchanged
        rm /usr/local/share/wakepath/installed
        $install
        printf 'file bin/../../../etc/passwd\nfile /etc/passwd\nfile share/../../../etc/shadow\nfile ../x\ndirectory ..\n' \
            >> /usr/local/share/wakepath/installed
        sh /media/release/install.sh --uninstall
        cmp /etc/passwd /tmp/passwd
        [ -f /etc/shadow ]
        # A staged file that was left, as a link.
        ln -s /etc/passwd /usr/local/bin/.wakepath.wakepath-part
        $install
        cmp /etc/passwd /tmp/passwd
        # A file of the user's in a directory of ours stays, and so does the directory.
        echo mine > /usr/local/share/doc/wakepath/notes
        sh /media/release/install.sh --uninstall
        [ "$(cat /usr/local/share/doc/wakepath/notes)" = mine ]
        [ ! -e /usr/local/bin/wakepath ]
        "#,
    );
}

fn root_writes_nowhere_that_others_can_change() {
    succeeds(
        r#"
        mkdir -p /home/visitor/.local /opt/open/inner /opt/group /opt/staff
        chown -R visitor:visitor /home/visitor
        chmod 0777 /opt/open
        chgrp visitor /opt/group && chmod 0775 /opt/group
        chgrp staff /opt/staff && chmod 2775 /opt/staff
        remember
        refused "is not root's" $install --prefix /home/visitor/.local
        refused 'everybody can write' $install --prefix /opt/open
        refused 'everybody can write' $install --prefix /opt/open/inner
        refused 'everybody can write' $install --prefix /tmp/wakepath
        refused 'group visitor can write' $install --prefix /opt/group
        unchanged
        # Debian's /usr/local of old belongs to group staff, in which nobody is.
        $install --prefix /opt/staff
        sh /media/release/install.sh --uninstall --prefix /opt/staff
        unchanged
        # A directory that leads elsewhere.
        mkdir /opt/link
        ln -s /home/visitor /opt/link/bin
        remember
        refused "is not root's" $install --prefix /opt/link
        unchanged
        "#,
    );
}

fn an_upgrade_takes_away_what_the_next_version_lacks() {
    succeeds(
        r#"
        remember
        $install
        # As if an older version had brought a page that the next one does not.
        echo old > /usr/local/share/man/man1/wakepath-old.1
        mkdir -p /usr/local/share/wakepath-old
        echo 'file share/man/man1/wakepath-old.1' >> /usr/local/share/wakepath/installed
        rmdir /usr/local/share/wakepath-old
        before=$(stat -c %i /usr/local/bin/wakepath)
        $next
        [ ! -e /usr/local/share/man/man1/wakepath-old.1 ] || wrong 'the old page is left'
        [ "$(stat -c %i /usr/local/bin/wakepath)" != "$before" ]
        grep -qx "version $(sed -n 's/^VERSION=//p' /media/next/install.sh)" /usr/local/share/wakepath/installed
        # Back again, and away with another version's installer.
        $install
        sh /media/next/install.sh --uninstall
        unchanged
        "#,
    );
}

fn a_disk_that_is_full_or_starts_nothing_is_left_as_it_was() {
    succeeds(
        r#"
        mkdir /opt/small /opt/noexec
        remember
        mount -t tmpfs -o size=3m,mode=0755 tmpfs /opt/small
        mount -t tmpfs -o noexec,mode=0755 tmpfs /opt/noexec
        $install --prefix /opt/small > /tmp/said 2>&1 && wrong 'there was room'
        grep -q 'Nothing was changed' /tmp/said
        [ -z "$(find /opt/small -mindepth 1)" ] || wrong "left: $(find /opt/small)"
        refused 'does not start' $install --prefix /opt/noexec
        [ -z "$(find /opt/noexec -mindepth 1)" ] || wrong "left: $(find /opt/noexec)"
        # The program that is there stays, when the next one has no room.
        mount -o remount,size=60m /opt/small
        $install --prefix /opt/small
        cp /opt/small/bin/wakepath /opt/small/share/wakepath/installed /tmp
        head -c 100m /dev/zero > /opt/small/full 2>/dev/null || :
        $next --prefix /opt/small > /tmp/said 2>&1 && wrong 'there was room'
        cmp /opt/small/bin/wakepath /tmp/wakepath
        cmp /opt/small/share/wakepath/installed /tmp/installed || wrong 'another list'
        [ -z "$(find /opt/small -name '*part')" ] || wrong 'staged files are left'
        "#,
    );
}

fn another_machine_gets_its_own_archive_or_a_line() {
    succeeds(
        r#"
        mkdir /tmp/few
        printf '#!/bin/sh\n[ "${1:-}" = -m ] && echo $MACHINE || echo Linux\n' > /tmp/few/uname
        chmod 755 /tmp/few/uname
        remember
        for machine in mips armv6l riscv64 i686; do
            refused "no wakepath for $machine" env MACHINE=$machine PATH="/tmp/few:$PATH" $install
        done
        refused 'no wakepath for pdp11' $install --target pdp11
        for machine in amd64 x86_64; do
            env MACHINE=$machine PATH="/tmp/few:$PATH" $install
            wakepath --version
            sh /media/release/install.sh --uninstall
        done
        unchanged
        "#,
    );
}

fn busybox_is_enough_and_fetches_by_itself() {
    need("busybox");
    succeeds(
        r#"
        mkdir /tmp/few
        busybox --install -s /tmp/few
        few() { env -i HOME=/root PATH=/tmp/few /tmp/few/sh "$@"; }
        remember
        few /media/release/install.sh --from /media/release
        wakepath --version
        few /media/next/install.sh --from /media/next
        few /media/next/install.sh --uninstall
        unchanged
        busybox ifconfig lo up
        busybox httpd -p 127.0.0.1:8080 -h /media/release
        few /media/release/install.sh --from http://127.0.0.1:8080
        wakepath --version
        few /media/release/install.sh --uninstall
        few /media/release/install.sh --from http://127.0.0.1:8080/nothing-here > /tmp/said 2>&1 && wrong 'fetched'
        grep -q "can't be fetched. Nothing was written" /tmp/said
        unchanged
        "#,
    );
}
