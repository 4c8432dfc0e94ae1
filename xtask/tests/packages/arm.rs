//! The artefacts for Arm, in the same clean root: installed for that machine and started by the emulator.
//! For the deep stage, which builds them.

use crate::clean_root::{need, succeeds};

wakepath_test_program::tests![;
    each_way_brings_a_program_that_the_emulator_starts,
];

fn each_way_brings_a_program_that_the_emulator_starts() {
    need("qemu-aarch64-static");
    succeeds(
        r#"
        remember
        for of in 'aarch64 aarch64-unknown-linux-musl arm64 aarch64 aarch64' \
            'arm armv7-unknown-linux-gnueabihf armhf armv7hl armv7l'; do
            set -- $of
            starts() { "qemu-$emulator-static" "$1" --version; (cd /tmp && "qemu-$emulator-static" "$1" scenario check quick); }
            emulator=$1
            $install --target "$2"
            starts /usr/local/bin/wakepath
            sh /media/release/install.sh --uninstall
            dpkg --add-architecture "$3"
            dpkg -i /media/release/wakepath_*_"$3".deb
            starts /usr/bin/wakepath
            dpkg --purge "wakepath:$3"
            if [ -e /usr/bin/rpm ]; then
                rpm --initdb
                rpm -i --nodeps --ignorearch /media/release/wakepath-*."$4".rpm
                starts /usr/bin/wakepath
                rpm -e wakepath
            fi
            if [ -e /usr/bin/python3 ]; then
                [ -e /opt/environment ] || python3 -m venv --without-pip /opt/environment
                /opt/environment/bin/python "$(echo /usr/share/python-wheels/pip-*.whl)/pip" install --quiet --no-index --no-deps --only-binary :all: --target /opt/wheel \
                    --platform "manylinux2014_$5" --find-links /media/release wakepath
                starts /opt/wheel/bin/wakepath
                rm -rf /opt/wheel
            fi
        done
        rm -rf /opt/environment
        # Debian's rpm keeps its database there; it is not the package's.
        rm -rf /root/.rpmdb
        unchanged
        "#,
    );
}
