//! Another kernel for one boot, and boards that do not come back with it.
//!
//! Boot loader, `reboot` and `uname` are fakes, because a network namespace can't boot.

use crate::world::{Like, World, stand_in};
use std::fs;

wakepath_test_program::tests![a_board_is_tuned_and_boots_another_kernel_once_or_falls_back];

/// The file `next` holds a board's next boot entry; `kernel` the current one. Its `reboot` ends its
/// sshd, and another starts with another boot's number.
const BEFORE: &str = r#"
if [ ! -d $world/bin$user ]; then
    mkdir $world/bin$user
    cp /bin/uname $world/bin$user/uname.real
    printf '#!/bin/sh\n[ "$1" = -r ] && exec cat %s/kernel\nexec %s/uname.real "$@"\n' $world/bin$user $world/bin$user \
        > $world/bin$user/uname
    printf '#!/bin/sh\necho "$1" > %s/next\n' $world/bin$user > $world/bin$user/grub-reboot
    printf '#!/bin/sh\nexec "$2" "$3" "$4"\n' > $world/bin$user/sudo
    printf '#!/bin/sh\ntouch %s/down\n' $world/bin$user > $world/bin$user/reboot
    echo usual > $world/bin$user/kernel
    chmod -R a+rwx $world/bin$user
fi
mount --bind $world/bin$user/uname /bin/uname
for tool in grub-reboot sudo reboot; do
    [ -e /usr/local/bin/$tool ] || { mount -t tmpfs none /usr/local/bin; break; }
done
cp $world/bin$user/grub-reboot $world/bin$user/sudo $world/bin$user/reboot /usr/local/bin/
cat /proc/sys/kernel/random/uuid > $world/boot$user
mount --bind $world/boot$user /proc/sys/kernel/random/boot_id
"#;

fn a_board_is_tuned_and_boots_another_kernel_once_or_falls_back() {
    let kind = Like {
        before: BEFORE,
        behaviour: "",
    };
    let world = World::new(&[kind; 3]);
    let program = stand_in().to_str().unwrap();
    let (code, out, err) = world.told(&["push", "--on", "all", "--program", program]);
    assert_eq!(code, 0, "{out}{err}");
    let (code, out, err) = world.told(&["tune", "--on", "name=board1", "--", "status"]);
    assert_eq!(
        (code, out.as_str()),
        (3, "board1\n  tuned: status\n"),
        "{err}"
    );

    // The first board boots its entry, the second one's kernel does not start, the third stays
    // down.
    fs::write(
        world.path("firmware"),
        "for n in 1 2 3; do (until [ -e bin6100$n/down ]; do sleep 0.1; done; \
         kill -9 $(ip netns pids board$n); \
         [ $n = 1 ] && cat bin61001/next > bin61001/kernel; \
         [ $n = 3 ] || exec ip netns exec board$n sh board$n.sh \"$1\") & done",
    )
    .unwrap();
    let sshd = world.sshd.display();
    world.shell(&format!("sh firmware {sshd} </dev/null >/dev/null 2>&1 &"));
    let (code, out, err) = world.told(&[
        "reboot", "--on", "all", "--entry", "6.12-rt", "--kernel", "6.12-rt", "--loader", "grub",
        "--wait", "15",
    ]);
    assert_eq!(code, 1, "{out}{err}");
    assert!(out.contains("board1  runs 6.12-rt"), "{out}");
    assert!(
        out.contains("board2  fell back: runs usual, not 6.12-rt"),
        "{out}"
    );
    assert!(
        out.contains("board3  lost: did not come back: unreachable"),
        "{out}"
    );
}
