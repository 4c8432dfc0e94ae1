//! The version of a release, as Cargo writes it and as Debian, RPM and Python do.

/// A version: `0.1.0`, or `0.1.0-rc.1` before it.
pub(super) struct Version(String);

impl Version {
    /// The workspace's version, or the last of `asked` if given, as in tests of upgrades.
    pub(super) fn of_this_workspace(asked: &[String]) -> Result<Self, String> {
        let version = asked
            .last()
            .map_or(env!("CARGO_PKG_VERSION"), String::as_str);
        let (numbers, candidate) = match version.split_once("-rc.") {
            Some((numbers, candidate)) => (numbers, candidate),
            None => (version, "0"),
        };
        let number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let plain = numbers.split('.').count() == 3 && numbers.split('.').all(number);
        if plain && number(candidate) {
            Ok(Self(version.to_owned()))
        } else {
            Err(format!(
                "{version} is not a version of a release: 1.2.3 or 1.2.3-rc.1"
            ))
        }
    }

    /// As Cargo writes it.
    pub(super) fn cargo(&self) -> &str {
        &self.0
    }

    /// In the form of Debian and RPM: a version with a tilde sorts before the one without.
    pub(super) fn distribution(&self) -> String {
        self.0.replacen('-', "~", 1)
    }

    /// As Python does (PEP 440).
    pub(super) fn python(&self) -> String {
        self.0.replacen("-rc.", "rc", 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_candidate_comes_before_its_release_everywhere() {
        let version = Version::of_this_workspace(&["0.2.0-rc.1".into()]).expect("a version");
        assert_eq!(version.cargo(), "0.2.0-rc.1");
        assert_eq!(version.distribution(), "0.2.0~rc.1");
        assert_eq!(version.python(), "0.2.0rc1");
        assert!(Version::of_this_workspace(&[]).is_ok());
    }

    #[test]
    fn what_is_no_version_of_a_release_is_refused() {
        for wrong in ["1", "1.2", "1.2.3-beta", "1.2.3-rc.", "1.2.x", "../../etc"] {
            assert!(
                Version::of_this_workspace(&[wrong.into()]).is_err(),
                "{wrong}"
            );
        }
    }
}
