//! CPUs as the kernel's masks: hexadecimal words of 32 bits, highest first.

use wakepath_machine::CpuList;

/// The mask of these CPUs.
pub fn mask(cpus: &CpuList) -> String {
    let mut words: Vec<u32> = vec![0];
    for &cpu in cpus.numbers() {
        let (word, bit) = ((cpu / 32) as usize, cpu % 32);
        if words.len() <= word {
            words.resize(word + 1, 0);
        }
        words[word] |= 1 << bit;
    }
    let mut text = String::new();
    for (position, word) in words.iter().rev().enumerate() {
        match position {
            0 => text.push_str(&format!("{word:x}")),
            _ => text.push_str(&format!(",{word:08x}")),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_32_bits_are_written_highest_first() {
        let cpus = |list: &str| list.parse::<CpuList>().unwrap();
        assert_eq!(mask(&cpus("0-2")), "7");
        assert_eq!(mask(&cpus("0,33")), "2,00000001");
        assert_eq!(mask(&CpuList::default()), "0");
    }
}
