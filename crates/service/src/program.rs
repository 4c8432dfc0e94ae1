//! The program that is recorded, as the kernel knows it: on which boot, and whether it is still the one that made its
//! loops. It waits for nothing.

use wakepath_timeline::one_line;

/// Which boot of the machine it is.
pub(crate) fn boot() -> String {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id");
    id.map_or_else(|_| String::new(), |id| one_line(id.trim()))
}

/// Where the kernel put stack and arguments of what a process runs (`proc_pid_stat(5)`, fields 28 and 48): another place
/// after each `exec`, where addresses are random. `None` where this user may not see it.
pub(crate) fn image(process: u32) -> Option<[u64; 2]> {
    let stat = std::fs::read(format!("/proc/{process}/stat")).ok()?;
    image_of(&String::from_utf8_lossy(&stat))
}

fn image_of(stat: &str) -> Option<[u64; 2]> {
    // The name may hold anything; behind it comes the third field.
    let (_, behind_name) = stat.rsplit_once(") ")?;
    let fields: Vec<&str> = behind_name.split(' ').collect();
    let field = |number: usize| fields.get(number - 3)?.parse().ok();
    let image = [field(28)?, field(48)?];
    (image != [0, 0]).then_some(image)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_another_takes_the_place_of_is_known_by_its_addresses() {
        let mut fields: Vec<String> = (4..=52).map(|number| number.to_string()).collect();
        let stat = |fields: &[String]| image_of(&format!("7 (a) b) S {}", fields.join(" ")));
        assert_eq!(stat(&fields), Some([28, 48]));
        fields[28 - 4] = "0".into();
        fields[48 - 4] = "0".into();
        assert_eq!(stat(&fields), None, "hidden from this user");
        assert!(image(std::process::id()).is_some());
        assert_eq!(image(std::process::id()), image(std::process::id()));
    }
}
