//! Remarks that several threads share.

/// A remark, and every thread that it applies to.
pub struct Remark<'a> {
    /// Their names.
    pub threads: Vec<&'a str>,
    /// Without their names.
    pub remark: String,
}

impl<'a> Remark<'a> {
    /// Remarks, each with its thread: equal ones as one, at the place of the first.
    pub fn merged(all: impl IntoIterator<Item = (&'a str, String)>) -> Vec<Self> {
        let mut merged: Vec<Self> = Vec::new();
        for (name, remark) in all {
            match merged.iter_mut().find(|of| of.remark == remark) {
                Some(known) => known.threads.push(name),
                None => merged.push(Self {
                    threads: vec![name],
                    remark,
                }),
            }
        }
        merged
    }
}
