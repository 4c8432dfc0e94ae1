//! `wakepath-rights`: nothing by default, one group on request, never everybody, and fully
//! revocable.

use crate::clean_root::{need, succeeds};

wakepath_test_program::tests![;
    members_of_the_group_and_nobody_else_get_the_capabilities,
    an_upgrade_keeps_what_was_granted_and_removal_takes_it_back,
    what_can_not_be_granted_whole_is_not_granted_at_all,
    a_program_that_others_could_exchange_gets_nothing,
];

/// Shell functions of the scripts here.
const WORDS: &str = r#"
    rights=/usr/local/bin/wakepath-rights
    program=/usr/local/bin/wakepath
    # No capability, and open to all: as it was installed.
    plain() {
        for file in /usr/local/bin/wakepath*; do
            [ "$(stat -c '%U:%G %a' "$file")" = 'root:root 755' ] || wrong "$(stat -c '%n %U:%G %a' "$file")"
        done
        [ -z "$(getcap /usr/local/bin/*)" ] || wrong "$(getcap /usr/local/bin/*)"
        [ ! -e /etc/wakepath ] || wrong 'a record is left'
        ! grep -q '^realtime:' /etc/group || wrong 'the group is left'
    }
    granted() {
        for file in /usr/local/bin/wakepath /usr/local/bin/wakepath-controller-host; do
            [ "$(stat -c '%U:%G %a' "$file")" = 'root:realtime 750' ] || wrong "$(stat -c '%n %U:%G %a' "$file")"
            getcap "$file" | grep -q 'cap_ipc_lock,cap_sys_nice[+=]ep' || wrong "$file: $(getcap "$file")"
        done
    }
"#;

fn with(script: &str) {
    need("setcap");
    succeeds(&format!("{WORDS}\n{script}"));
}

fn members_of_the_group_and_nobody_else_get_the_capabilities() {
    with(
        r#"
        $install
        plain
        $rights grant > /tmp/said 2>&1
        grep -q FIFO /tmp/said
        granted
        gid=$(sed -n 's/^realtime:[^:]*:\([0-9]*\):.*/\1/p' /etc/group)
        [ "$gid" -lt 1000 ] || wrong "group $gid is no system group"
        visitor $program --version 2>/dev/null && wrong 'a stranger starts it'
        setpriv --reuid 1000 --regid 1000 --groups "$gid" sh -c "$program --version"
        # Nobody is in the group by default.
        grep -qx "realtime:[^:]*:$gid:" /etc/group
        $rights status | grep -q 'root:realtime -rwxr-x---, cap_ipc_lock,cap_sys_nice'
        # Again changes nothing; another group only after the first was taken back.
        $rights grant 2>/dev/null
        granted
        refused 'granted to realtime already' $rights grant --group audio
        $rights revoke
        plain
        $rights status | grep -q 'granted to nobody'
        # A group that was there before stays.
        $rights grant --group audio 2>/dev/null
        [ "$(stat -c %G $program)" = audio ]
        $rights revoke
        plain
        grep -q '^audio:' /etc/group
        # So does one that somebody was added to.
        $rights grant 2>/dev/null
        usermod --append --groups realtime visitor
        $rights revoke > /tmp/said 2>&1
        grep -q 'has members and is left: visitor' /tmp/said
        groupdel realtime
        plain
        "#,
    );
}

fn an_upgrade_keeps_what_was_granted_and_removal_takes_it_back() {
    with(
        r#"
        remember
        $install
        $rights grant 2>/dev/null
        $next
        granted
        sh /media/next/install.sh --uninstall
        unchanged
        # Where the group is gone by then, nothing is granted to a number.
        $install
        $rights grant 2>/dev/null
        groupdel realtime
        $next > /tmp/said 2>&1
        grep -q 'the group realtime is gone' /tmp/said
        $rights revoke
        plain
        "#,
    );
}

fn what_can_not_be_granted_whole_is_not_granted_at_all() {
    with(
        r#"
        $install
        refused 'everybody is in it' $rights grant --group users
        refused 'everybody is in it' $rights grant --group root
        refused 'is not a name of a group' $rights grant --group 'a b; id'
        refused 'is not a name of a group' $rights grant --group=-x
        refused 'this needs root' visitor $rights grant
        refused 'unknown argument' $rights revoke now
        plain
        # No setcap, or one that fails: no capabilities, and no trace.
        mv /usr/sbin/setcap /tmp/setcap
        refused 'no setcap here' $rights grant
        plain
        printf '#!/bin/sh\nexit 1\n' > /usr/sbin/setcap
        chmod 755 /usr/sbin/setcap
        refused "can't be given capabilities" $rights grant
        plain
        # The second program fails after the first had them.
        printf '#!/bin/sh\ncase $2 in *host) exit 1 ;; esac\nexec /tmp/setcap "$@"\n' > /usr/sbin/setcap
        refused "can't be given capabilities" $rights grant
        plain
        # Killed in between: what is there is shut to others, and can be taken back.
        printf '#!/bin/sh\nkill -9 $PPID\n' > /usr/sbin/setcap
        $rights grant 2>/dev/null && wrong 'it was killed'
        [ "$(stat -c '%G %a' $program)" = 'realtime 750' ]
        rm /usr/sbin/setcap
        $rights revoke
        plain
        "#,
    );
}

fn a_program_that_others_could_exchange_gets_nothing() {
    with(
        r#"
        $install
        ln $program /opt/another-name
        refused 'alone under one name' $rights grant
        rm /opt/another-name
        chown visitor $program
        refused 'alone under one name' $rights grant
        chown root $program
        chmod 0777 /usr/local/bin
        refused 'everybody can write' $rights grant
        chmod 0755 /usr/local/bin
        chown visitor /usr/local
        refused 'does not belong to root' $rights grant
        chown root /usr/local
        mv $program /opt/elsewhere
        ln -s /opt/elsewhere $program
        refused 'is not a plain file' $rights grant
        rm $program
        mv /opt/elsewhere $program
        plain
        # Started by a link it is still the programs beside itself that it means.
        ln -s $rights /home/visitor/rights
        cp /bin/true /home/visitor/wakepath
        chown visitor /home/visitor/wakepath
        /home/visitor/rights grant 2>/dev/null
        granted
        [ -z "$(getcap /home/visitor/wakepath)" ]
        "#,
    );
}
