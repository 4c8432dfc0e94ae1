//! A block of memory that is read and written in each cycle, in place of a program's other data.

/// One cache line on every target that wakepath runs on; larger lines are touched more than once.
const LINE_BYTES: usize = 64;

/// The block, allocated and touched before the first cycle.
pub(crate) struct WorkingSet(Vec<u8>);

impl WorkingSet {
    pub(super) fn new(bytes: u64) -> Self {
        let mut memory = vec![0; bytes as usize];
        wakepath_rt::memory::touch(&mut memory);
        Self(memory)
    }

    /// Reads and writes a byte of every line.
    #[inline]
    pub(super) fn touch(&mut self) {
        for line in self.0.chunks_mut(LINE_BYTES) {
            line[0] = std::hint::black_box(line[0]).wrapping_add(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_touched_each_cycle() {
        let mut set = WorkingSet::new(1000);
        set.touch();
        set.touch();
        let sum: usize = set.0.iter().map(|&byte| usize::from(byte)).sum();
        assert_eq!((set.0.len(), sum), (1000, 2 * 16));
    }
}
