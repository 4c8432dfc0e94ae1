//! The `.deb`, by dpkg: installed, verified, upgraded, removed and purged.

use crate::clean_root::{need, succeeds};

wakepath_test_program::tests![;
    it_is_installed_verified_upgraded_and_leaves_nothing,
    capabilities_survive_an_upgrade_and_not_a_removal,
];

fn it_is_installed_verified_upgraded_and_leaves_nothing() {
    succeeds(
        r#"
        remember
        dpkg -i /media/release/wakepath_*_amd64.deb
        cd /tmp
        wakepath --version
        wakepath scenario check quick
        wakepath-controller-host < /dev/null > /dev/null 2>&1 || [ $? -lt 126 ] || wrong 'the host does not start'
        [ -z "$(dpkg --verify wakepath)" ] || wrong "$(dpkg --verify wakepath)"
        [ "$(stat -c '%U:%G %a' /usr/bin/wakepath)" = 'root:root 755' ]
        [ -z "$(getcap /usr/bin/wakepath*)" ] || wrong 'capabilities by default'
        ! grep -q '^realtime:' /etc/group
        python3 -c "import gzip; assert gzip.open('/usr/share/man/man1/wakepath.1.gz').read(1)" || [ ! -e /usr/bin/python3 ]
        grep -q 'Permission is hereby granted' /usr/share/doc/wakepath/copyright
        has_library /lib/x86_64-linux-gnu
        # A candidate comes before its release.
        dpkg -i /media/next/wakepath_*_amd64.deb
        dpkg-query -W -f '${Version}' wakepath | grep -q '~rc'
        dpkg --purge wakepath
        unchanged
        "#,
    );
}

fn capabilities_survive_an_upgrade_and_not_a_removal() {
    need("setcap");
    succeeds(
        r#"
        remember
        dpkg -i /media/release/wakepath_*_amd64.deb
        wakepath-rights grant
        granted() {
            [ "$(stat -c '%U:%G %a' /usr/bin/wakepath)" = 'root:realtime 750' ] || wrong "$(stat -c '%U:%G %a' /usr/bin/wakepath)"
            getcap /usr/bin/wakepath | grep -q cap_sys_nice || wrong 'no capabilities'
        }
        granted
        dpkg -i /media/next/wakepath_*_amd64.deb
        granted
        dpkg -i /media/release/wakepath_*_amd64.deb
        granted
        dpkg --remove wakepath
        ! grep -q '^realtime:' /etc/group || wrong 'the group is left'
        dpkg --purge wakepath
        unchanged
        "#,
    );
}
