//! A second boot entry for each loader, on trees written from the loaders' documentation.

use std::path::Path;
use wakepath_machine::Root;
use wakepath_tuning::{BootChange, BootError, Loader, prepare, remove, write};

wakepath_test_program::tests![
    no_link_leads_out_of_the_tree,
    a_raspberry_pi_tries_another_command_line_by_tryboot,
    somebody_else_s_trial_on_a_raspberry_pi_is_left_alone,
    a_jetson_gets_a_second_label_and_keeps_its_default,
    an_eleventh_label_that_the_loader_would_not_read_is_refused,
    a_beaglebone_gets_a_copy_beside_its_uenv,
    entries_are_copied_for_systemd_boot_with_tries_and_for_fedora_without,
    grub_gets_a_copy_of_its_first_entry_in_the_file_that_its_menu_reads,
    each_typed_board_has_its_own_loader,
    files_that_are_not_as_expected_are_refused,
];

const PARAMETERS: &str = "rcu_nocbs=3 irqaffinity=0-2";

fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    for (path, content) in files {
        let path = directory.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    directory
}

fn prepared(files: &[(&str, &str)]) -> Result<BootChange, BootError> {
    prepare(&Root::at(tree(files).path()), PARAMETERS)
}

/// Writes, looks, removes: the old files must be as before in between and after.
fn written(files: &[(&str, &str)], loader: Loader) -> Vec<(String, String)> {
    let directory = tree(files);
    let change = prepare(&Root::at(directory.path()), PARAMETERS).unwrap();
    assert_eq!(change.loader, loader);
    write(&change, directory.path()).unwrap();
    let read =
        |path: &str| std::fs::read_to_string(directory.path().join(path.trim_start_matches('/')));
    let new = change
        .files
        .iter()
        .map(|file| (file.path.clone(), read(&file.path).unwrap()))
        .collect();
    let untouched = |path: &str| {
        change
            .files
            .iter()
            .all(|file| file.path != format!("/{path}"))
    };
    for (path, content) in files.iter().filter(|(path, _)| untouched(path)) {
        assert_eq!(read(path).unwrap(), *content, "{path}");
    }
    remove(&change, directory.path()).unwrap();
    for (path, content) in files {
        assert_eq!(read(path).unwrap().trim_end(), content.trim_end(), "{path}");
    }
    for file in change.files.iter().filter(|file| file.before.is_none()) {
        assert!(read(&file.path).is_err(), "{}", file.path);
    }
    new
}

fn a_raspberry_pi_tries_another_command_line_by_tryboot() {
    let new = written(
        &[
            (
                "boot/firmware/config.txt",
                "arm_64bit=1\ncmdline=cmdline.txt\n[pi5]\nfoo=1\n",
            ),
            (
                "boot/firmware/cmdline.txt",
                "console=tty1 root=PARTUUID=1\n",
            ),
        ],
        Loader::RaspberryPi,
    );
    assert_eq!(
        new[0],
        (
            "/boot/firmware/wakepath.txt".into(),
            "console=tty1 root=PARTUUID=1 rcu_nocbs=3 irqaffinity=0-2\n".into()
        )
    );
    assert_eq!(
        new[1].1,
        "arm_64bit=1\n[pi5]\nfoo=1\n[all]\ncmdline=wakepath.txt\n"
    );
}

fn somebody_else_s_trial_on_a_raspberry_pi_is_left_alone() {
    let error = prepared(&[
        ("boot/config.txt", "a=1\n"),
        ("boot/cmdline.txt", "root=1\n"),
        ("boot/tryboot.txt", "a=2\n"),
    ]);
    assert!(error.unwrap_err().to_string().contains("already exists"));
    let error = prepared(&[
        ("boot/config.txt", "a=1\n"),
        ("boot/cmdline.txt", "root=1\nquiet\n"),
    ]);
    assert!(
        error
            .unwrap_err()
            .to_string()
            .contains("one line was expected")
    );
}

const EXTLINUX: &str = "TIMEOUT 30\nDEFAULT primary\n\nMENU TITLE L4T boot options\n\n\
                        LABEL primary\n      MENU LABEL primary kernel\n      LINUX /boot/Image\n      \
                        INITRD /boot/initrd\n      APPEND ${cbootargs} root=/dev/mmcblk0p1 rw\n";

fn a_jetson_gets_a_second_label_and_keeps_its_default() {
    let new = written(
        &[("boot/extlinux/extlinux.conf", EXTLINUX)],
        Loader::Extlinux,
    );
    let text = &new[0].1;
    assert!(text.starts_with(EXTLINUX.trim_end()), "{text}");
    assert!(text.contains("DEFAULT primary\n"));
    assert!(text.ends_with(
        "LABEL wakepath\n      MENU LABEL wakepath trial\n      LINUX /boot/Image\n      INITRD \
         /boot/initrd\n      APPEND ${cbootargs} root=/dev/mmcblk0p1 rw rcu_nocbs=3 \
         irqaffinity=0-2\n"
    ));
}

fn an_eleventh_label_that_the_loader_would_not_read_is_refused() {
    let mut text = EXTLINUX.to_owned();
    for number in 0..9 {
        text.push_str(&format!("LABEL spare{number}\n      LINUX /boot/Image\n"));
    }
    let error = prepared(&[("boot/extlinux/extlinux.conf", &text)]).unwrap_err();
    assert!(error.to_string().contains("ten entries"), "{error}");
}

fn a_beaglebone_gets_a_copy_beside_its_uenv() {
    let file = "uname_r=5.10.168-ti-r71\ncmdline=coherent_pool=1M net.ifnames=0\n";
    let new = written(&[("boot/uEnv.txt", file)], Loader::UEnv);
    assert_eq!(new[0].0, "/boot/uEnv.wakepath.txt");
    assert!(
        new[0]
            .1
            .contains("net.ifnames=0 rcu_nocbs=3 irqaffinity=0-2\n")
    );
}

fn entries_are_copied_for_systemd_boot_with_tries_and_for_fedora_without() {
    let entry = "title Debian\nversion 6.12\nlinux /vmlinuz\noptions root=UUID=1 quiet\n";
    let new = written(
        &[
            ("efi/loader/loader.conf", "timeout 3\n"),
            ("efi/loader/entries/debian-6.12.conf", entry),
        ],
        Loader::SystemdBoot,
    );
    assert_eq!(new[0].0, "/efi/loader/entries/wakepath+3.conf");
    assert!(
        new[0]
            .1
            .contains("options root=UUID=1 quiet rcu_nocbs=3 irqaffinity=0-2\n")
    );
    let new = written(
        &[
            ("boot/grub2/grub.cfg", "insmod blscfg\nblscfg\n"),
            ("boot/loader/entries/abc-0-rescue.conf", entry),
            ("boot/loader/entries/abc-6.17.conf", entry),
        ],
        Loader::GrubWithEntries,
    );
    assert_eq!(new[0].0, "/boot/loader/entries/wakepath.conf");
}

const GRUB: &str = "if [ \"${next_entry}\" ] ; then\n  set default=\"${next_entry}\"\nfi\n\
                    menuentry 'Debian' --class debian $menuentry_id_option 'gnulinux-simple' {\n\
                    \tload_video\n\tlinux\t/boot/vmlinuz-6.12 root=UUID=1 ro quiet\n\
                    \tinitrd\t/boot/initrd.img-6.12\n}\n\
                    if [ -f  ${config_directory}/custom.cfg ]; then\n  source \
                    ${config_directory}/custom.cfg\nfi\n";

fn grub_gets_a_copy_of_its_first_entry_in_the_file_that_its_menu_reads() {
    let new = written(&[("boot/grub/grub.cfg", GRUB)], Loader::Grub);
    assert_eq!(
        new[0],
        (
            "/boot/grub/custom.cfg".into(),
            "menuentry 'wakepath trial' --id wakepath-trial {\n\tload_video\n\
             \tlinux\t/boot/vmlinuz-6.12 root=UUID=1 ro quiet rcu_nocbs=3 irqaffinity=0-2\n\
             \tinitrd\t/boot/initrd.img-6.12\n}\n"
                .into()
        )
    );
}

fn each_typed_board_has_its_own_loader() {
    for (name, loader) in [
        ("raspberry-pi-5", Loader::RaspberryPi),
        ("jetson-orin-nano", Loader::Extlinux),
        ("beaglebone-black", Loader::UEnv),
        ("fedora-desktop", Loader::GrubWithEntries),
    ] {
        let folder = format!("../../fixtures/machines/{name}");
        let root = Root::at(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder));
        let change = prepare(&root, PARAMETERS).unwrap();
        assert_eq!(change.loader, loader);
        let added = format!("{PARAMETERS}\n");
        let texts = || change.files.iter().map(|file| file.content.as_str());
        assert_eq!(
            texts().filter(|text| text.contains(&added)).count(),
            1,
            "{name}"
        );
        // The newest entry is copied, not the rescue one.
        assert!(texts().all(|text| !text.contains("rescue")), "{name}");
    }
}

fn files_that_are_not_as_expected_are_refused() {
    assert!(matches!(prepared(&[]), Err(BootError::NoLoader(_))));
    let error = prepared(&[("boot/grub/grub.cfg", "menuentry 'a' {\n\tlinux /x\n}\n")]);
    assert!(error.unwrap_err().to_string().contains("custom.cfg"));
    let directory = tree(&[("boot/uEnv.txt", "cmdline=quiet\n")]);
    let root = Root::at(directory.path());
    for hostile in ["a=1\nb", "a=$(reboot)", "a='b'", "a;b"] {
        assert!(
            matches!(prepare(&root, hostile), Err(BootError::Parameter(_))),
            "{hostile}"
        );
    }
    // A copy that was edited can't name other files.
    let change = prepare(&root, PARAMETERS).unwrap();
    for elsewhere in ["/etc/passwd", "/boot/../etc/passwd", "/etc/boot/x"] {
        let mut tampered = change.clone();
        tampered.files[0].path = elsewhere.into();
        for outcome in [
            write(&tampered, directory.path()).map(|_| ()),
            remove(&tampered, directory.path()),
        ] {
            let error = outcome.unwrap_err().to_string();
            assert!(
                error.contains("not a boot loader's file"),
                "{elsewhere}: {error}"
            );
        }
    }
    // A link in the file's place would be written through.
    let change = prepare(&root, PARAMETERS).unwrap();
    let link = directory.path().join("boot/uEnv.wakepath.txt");
    std::os::unix::fs::symlink("/etc/passwd", &link).unwrap();
    assert!(write(&change, directory.path()).is_err());
    assert!(Path::new("/etc/passwd").exists());
}

fn no_link_leads_out_of_the_tree() {
    let files = [("boot/uEnv.txt", "uname_r=6.1\ncmdline=quiet\n")];
    // Directory for directory, and file for file: absolute and relative.
    for (what, climbs) in [("boot", true), ("boot", false), ("file", true)] {
        let place = tempfile::tempdir().unwrap();
        let (top, outside) = (place.path().join("tree"), place.path().join("outside"));
        std::fs::create_dir_all(top.join("boot")).unwrap();
        std::fs::create_dir(&outside).unwrap();
        let (path, content) = files[0];
        std::fs::write(top.join(path), content).unwrap();
        let change = prepare(&Root::at(&top), PARAMETERS).unwrap();
        let target = if climbs {
            Path::new("../outside").to_owned()
        } else {
            outside.clone()
        };
        match what {
            "boot" => {
                std::fs::rename(top.join("boot"), outside.join("boot")).unwrap();
                std::os::unix::fs::symlink(target.join("boot"), top.join("boot")).unwrap();
            }
            _ => {
                let file = change.files[0].path.trim_start_matches('/');
                std::os::unix::fs::symlink(target.join("file"), top.join(file)).unwrap();
            }
        }
        let list = |of: &Path| std::fs::read_dir(of).map_or(0, Iterator::count);
        let before = (list(&outside), list(&outside.join("boot")));
        assert!(write(&change, &top).is_err(), "{what}, climbs: {climbs}");
        let after = (list(&outside), list(&outside.join("boot")));
        assert_eq!(before, after, "{what}, climbs: {climbs}");
        // A link that stays inside the tree is as good as a directory, as on the machine itself.
        if what == "boot" {
            std::fs::remove_file(top.join("boot")).unwrap();
            std::fs::rename(outside.join("boot"), top.join("efi")).unwrap();
            std::os::unix::fs::symlink("/efi", top.join("boot")).unwrap();
            write(&change, &top).unwrap();
            assert!(top.join("efi").join("uEnv.txt").exists());
            remove(&change, &top).unwrap();
            assert_eq!(list(&top.join("efi")), 1);
        }
    }
}
