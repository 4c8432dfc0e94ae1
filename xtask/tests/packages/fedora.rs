//! The `.rpm`, by rpm with a separate database: its digests, installed, verified, upgraded, erased.

use crate::clean_root::{need, succeeds};

wakepath_test_program::tests![;
    it_is_installed_verified_upgraded_and_leaves_nothing,
];

fn it_is_installed_verified_upgraded_and_leaves_nothing() {
    need("rpm");
    need("setcap");
    // Debian's shell is in no database of rpm's.
    succeeds(
        r#"
        rpm --initdb
        remember
        rpm -K /media/release/wakepath-*.x86_64.rpm | grep -q 'digests OK'
        [ -z "$(rpm -qp --requires /media/release/wakepath-*.x86_64.rpm | grep -v 'rpmlib\|^/bin/sh')" ]
        rpm -i --nodeps /media/release/wakepath-*.x86_64.rpm
        cd /tmp
        wakepath --version
        wakepath scenario check quick
        rpm -V --nodeps wakepath || wrong 'not as it was packed'
        [ -s /usr/lib64/libwakepath.so.1 ] && [ -s /usr/include/wakepath.hpp ]
        [ "$(stat -c '%U:%G %a' /usr/bin/wakepath)" = 'root:root 755' ]
        [ -z "$(getcap /usr/bin/wakepath*)" ] || wrong 'capabilities by default'
        ! grep -q '^realtime:' /etc/group
        wakepath-rights grant
        # What was granted is no damage.
        rpm -V --nodeps wakepath || wrong 'granted, and called damaged'
        rpm -U --nodeps --force /media/next/wakepath-*.x86_64.rpm
        [ "$(stat -c '%U:%G %a' /usr/bin/wakepath)" = 'root:realtime 750' ] || wrong "$(stat -c '%U:%G %a' /usr/bin/wakepath)"
        getcap /usr/bin/wakepath | grep -q cap_sys_nice || wrong 'no capabilities after the upgrade'
        rpm -e --nodeps wakepath
        ! grep -q '^realtime:' /etc/group || wrong 'the group is left'
        unchanged
        "#,
    );
}
