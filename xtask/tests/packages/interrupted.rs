//! `install.sh` interrupted: half downloaded, killed at each of its steps, ended by a signal.
//!
//! The old program or the new one remains, and `--uninstall` leaves nothing.

use crate::clean_root::succeeds;

wakepath_test_program::tests![;
    a_part_of_the_installer_does_nothing,
    killed_at_any_step_it_can_be_repeated_or_taken_back,
    a_signal_takes_back_what_was_staged,
];

fn a_part_of_the_installer_does_nothing() {
    succeeds(
        r#"
        remember
        script=/media/release/install.sh
        size=$(stat -c %s "$script")
        # All that ends before the last line, whose first word is the one function's name.
        last=$((size - 10))
        at=1
        while [ $at -le $last ]; do
            head -c $at "$script" | sh -s -- --from /media/release > /tmp/said 2>&1 || :
            if [ -e /usr/local/bin/wakepath ] || [ -e /usr/local/share/wakepath ]; then wrong "installed by the first $at bytes"; fi
            at=$((at + size / 60))
        done
        for short in 9 8 7 6 5; do
            head -c $((size - short)) "$script" | sh -s -- --from /media/release > /tmp/said 2>&1 || :
        done
        unchanged
        cat "$script" | sh -s -- --from /media/release
        wakepath --version
        "#,
    );
}

fn killed_at_any_step_it_can_be_repeated_or_taken_back() {
    succeeds(
        r#"
        # Tools that kill the installer at their Nth start, before or after they did their work.
        mkdir /tmp/few
        for tool in mv cp rm mkdir; do
            cat > "/tmp/few/$tool" <<END
#!/bin/sh
echo >> /tmp/count
[ "\$(wc -l < /tmp/count)" -ne "\$AT" ] || { [ "\$WHEN" = before ] || "/usr/bin/$tool" "\$@"; kill -9 "\$PPID"; exit 1; }
exec /usr/bin/$tool "\$@"
END
            chmod 755 "/tmp/few/$tool"
        done
        remember
        killed=0
        for AT in 1 3 8 30 45 60 75 99999; do
            WHEN=before
            [ $((AT % 2)) -eq 0 ] || WHEN=after
            export AT WHEN
            : > /tmp/count
            PATH="/tmp/few:$PATH" $install > /tmp/said 2>&1 || killed=$((killed + 1))
            # What there is starts.
            [ ! -e /usr/local/bin/wakepath ] || wakepath --version > /dev/null || wrong "no whole program after $AT"
            if [ $((AT % 3)) -eq 0 ]; then $install > /dev/null 2>&1 || wrong "not repeated after $AT"; fi
            if [ -e /usr/local/share/wakepath/installed ]; then
                sh /media/release/install.sh --uninstall > /tmp/said 2>&1 || wrong "not taken back after $AT: $(cat /tmp/said)"
            fi
            # Directories that were made before the list are empty: the next installation uses them.
            find /usr/local -depth -type d -empty -newer /tmp/passwd -exec rmdir {} + 2>/dev/null || :
            mkdir -p /usr/local/bin /usr/local/share
            files=$(find /usr/local -type f -o -type l | grep -v '/man$' || :)
            [ -z "$files" ] || wrong "after $AT left: $files"
        done
        [ $killed -ge 5 ] || wrong "killed $killed times only"
        "#,
    );
}

fn a_signal_takes_back_what_was_staged() {
    succeeds(
        r#"
        mkdir /tmp/few
        printf '#!/bin/sh\necho >> /tmp/count\n[ "$(wc -l < /tmp/count)" -ne 3 ] || kill -TERM $PPID\nexec /usr/bin/cp "$@"\n' > /tmp/few/cp
        chmod 755 /tmp/few/cp
        remember
        : > /tmp/count
        PATH="/tmp/few:$PATH" $install && wrong 'it went on'
        unchanged
        [ -z "$(find /tmp -name 'wakepath-install*')" ]
        "#,
    );
}
