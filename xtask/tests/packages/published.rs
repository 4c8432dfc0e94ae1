//! The directory of published files as a whole.

use crate::clean_root::succeeds;

wakepath_test_program::tests![;
    every_file_has_its_check_sum_and_every_archive_its_licences,
];

fn every_file_has_its_check_sum_and_every_archive_its_licences() {
    succeeds(
        r#"
        cd /media/release
        sha256sum --check --strict --quiet SHA256SUMS
        [ "$(ls | grep -vc '^SHA256SUMS$')" -eq "$(wc -l < SHA256SUMS)" ] || wrong 'a file without a sum'
        for archive in *.tar.gz; do
            name=${archive%.tar.gz}
            tar tzf "$archive" > /tmp/list
            grep -qv "^$name/" /tmp/list && wrong "$archive has something outside its directory"
            for file in bin/wakepath bin/wakepath-rights share/man/man1/wakepath.1 share/doc/wakepath/LICENSE-MIT \
                share/doc/wakepath/LICENSE-APACHE share/doc/wakepath/LICENCES-OF-OTHERS \
                share/bash-completion/completions/wakepath share/zsh/site-functions/_wakepath \
                share/fish/vendor_completions.d/wakepath.fish; do
                grep -qx "$name/$file" /tmp/list || wrong "$archive has no $file"
            done
            tar xzf "$archive" -C /tmp
            licences=/tmp/$name/share/doc/wakepath/LICENCES-OF-OTHERS
            for crate in clap parquet rustix serde zstd-sys; do
                grep -q "^$crate [0-9]" "$licences" || wrong "$archive: nothing of $crate"
            done
            ! grep -q '^proptest ' "$licences" || wrong 'what only tests use is not inside'
            # Nothing of the machine that it was packed on.
            [ -z "$(find "/tmp/$name" ! -user root)" ]
            [ -z "$(find "/tmp/$name" -perm /022)" ]
        done
        "#,
    );
}
