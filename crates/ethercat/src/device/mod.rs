//! A simulated device: an EtherCAT controller's memory and eight bytes of process data each way.
//!
//! It has the registers that a master uses (ETG.1000.4, chapter 6). Pure: callers pass the time.

mod clock;
mod information;

use crate::datagram::{Access, Command, Datagram};
use clock::Clock;
use information::Information;

/// Registers and process memory.
const MEMORY: usize = 0x2000;
/// Process data of one device in bytes, each way.
pub(crate) const PROCESS_DATA: usize = 8;
const OUTPUTS: u16 = 0x1100;
const INPUTS: u16 = 0x1180;

const STATION: usize = 0x0010;
const AL_CONTROL: usize = 0x0120;
const AL_STATUS: usize = 0x0130;
const INFORMATION_CONTROL: usize = 0x0502;
const INFORMATION_DATA: usize = 0x0508;
const MAPPINGS: usize = 0x0600;
const MAPPING: usize = 16;
const PORT_TIMES: usize = 0x0900;
const SYSTEM_TIME: usize = 0x0910;
const RECEIVE_TIME: usize = 0x0918;
const TIME_OFFSET: usize = 0x0920;
const TIME_DELAY: usize = 0x0928;
const TIME_DIFFERENCE: usize = 0x092c;
const TIME_CONTROL: usize = 0x0930;

const OPERATIONAL: u8 = 8;

/// One device of the ring.
pub(crate) struct Device {
    memory: Vec<u8>,
    information: Information,
    clock: Clock,
    /// Delay until a frame returns to it from the devices after it.
    behind_ns: u64,
    /// Whether it takes part. One that does not lets frames pass.
    pub(crate) takes_part: bool,
}

impl Device {
    /// The device number `index` of `devices`, whose clock is fast by `clock_error` billionths.
    pub(crate) fn new(index: u16, devices: u16, clock_error: i64, between_ns: u64) -> Self {
        let mut memory = vec![0; MEMORY];
        // A controller of no known maker: type, mappings, sync managers, memory in KiB.
        memory[0x0000] = 0x11;
        memory[0x0004..0x0007].copy_from_slice(&[8, 8, 4]);
        // Clocks of 64 bits with synchronous outputs.
        memory[0x0008..0x000a].copy_from_slice(&0x010c_u16.to_le_bytes());
        let is_last = index + 1 == devices;
        // Links at the first port, and at the second except for the last device.
        let links: u16 = if is_last { 0x0013 } else { 0x0033 };
        memory[0x0110..0x0112].copy_from_slice(&links.to_le_bytes());
        memory[AL_STATUS] = 1;
        Self {
            memory,
            information: Information::new(index, OUTPUTS, INPUTS, PROCESS_DATA as u16),
            clock: Clock::new(clock_error, u64::from(index) * 1_000_003),
            behind_ns: u64::from(devices - 1 - index) * 2 * between_ns,
            takes_part: true,
        }
    }

    /// Whether a master has brought it into operation.
    pub(crate) fn is_operational(&self) -> bool {
        self.memory[AL_STATUS] & 0x0f == OPERATIONAL
    }

    /// Exchanges data with a frame that passes at `now_ns`.
    pub(crate) fn pass(&mut self, datagram: &mut Datagram<'_>, now_ns: u64) {
        if !self.takes_part {
            return;
        }
        let position = datagram.device();
        let station = u16::from_le_bytes([self.memory[STATION], self.memory[STATION + 1]]);
        let access = match datagram.command {
            Command::Position(access) => {
                datagram.set_device(position.wrapping_add(1));
                (position == 0).then_some(access)
            }
            Command::Broadcast(access) => {
                datagram.set_device(position.wrapping_add(1));
                Some(access)
            }
            Command::Station(access) => (position == station).then_some(access),
            Command::PositionReadOthersWrite => {
                datagram.set_device(position.wrapping_add(1));
                Some(read_or_write(position == 0))
            }
            Command::StationReadOthersWrite => Some(read_or_write(position == station)),
            Command::Logical(access) => return self.map(datagram, access),
        };
        if let Some(access) = access {
            self.access(datagram, access, now_ns);
        }
    }

    fn access(&mut self, datagram: &mut Datagram<'_>, access: Access, now_ns: u64) {
        let from = usize::from(datagram.offset());
        let Some(to) = from
            .checked_add(datagram.data.len())
            .filter(|&to| to <= MEMORY)
        else {
            return;
        };
        let collects = matches!(datagram.command, Command::Broadcast(_));
        let written = datagram.data.to_vec();
        if access.read {
            self.refresh(now_ns);
            for (data, memory) in datagram.data.iter_mut().zip(&self.memory[from..to]) {
                *data = if collects { *data | memory } else { *memory };
            }
            datagram.count(1);
        }
        if access.write {
            self.write(from, &written, now_ns);
            // The standard's weights: 1 for a write alone, 2 for a write with a read.
            datagram.count(if access.read { 2 } else { 1 });
        }
    }

    /// Brings the registers up to date that change by themselves.
    fn refresh(&mut self, now_ns: u64) {
        let time = self.clock.system(now_ns).to_le_bytes();
        self.memory[SYSTEM_TIME..SYSTEM_TIME + 8].copy_from_slice(&time);
        let difference = self.clock.difference().to_le_bytes();
        self.memory[TIME_DIFFERENCE..TIME_DIFFERENCE + 4].copy_from_slice(&difference);
    }

    fn write(&mut self, from: usize, data: &[u8], now_ns: u64) {
        let to = from + data.len();
        let touches = |register: usize| (from..to).contains(&register);
        if touches(PORT_TIMES) {
            return self.latch(now_ns);
        }
        if from == SYSTEM_TIME {
            let mut time = [0; 8];
            time[..data.len().min(8)].copy_from_slice(&data[..data.len().min(8)]);
            let delay = self.number(TIME_DELAY, 4);
            let reference = u64::from_le_bytes(time);
            return self
                .clock
                .compare(reference.wrapping_add(delay), reference != 0, now_ns);
        }
        // The device's identity is read-only.
        let first = from.max(STATION);
        if first < to {
            self.memory[first..to].copy_from_slice(&data[first - from..]);
        }
        if touches(TIME_OFFSET) {
            self.clock
                .set_offset(self.number(TIME_OFFSET, 8).cast_signed());
        }
        if touches(TIME_CONTROL) {
            self.clock.restart();
        }
        if touches(AL_CONTROL) {
            // Every requested state is reached immediately.
            let state = self.memory[AL_CONTROL] & 0x0f;
            self.memory[AL_STATUS..AL_STATUS + 6].fill(0);
            self.memory[AL_STATUS] = state;
        }
        if touches(INFORMATION_CONTROL + 1) {
            let control = self.memory[INFORMATION_CONTROL + 1];
            if control & 1 != 0 {
                let word = self.number(INFORMATION_CONTROL + 2, 2);
                let bytes = self.information.read(word);
                self.memory[INFORMATION_DATA..INFORMATION_DATA + 8].copy_from_slice(&bytes);
            }
            // Eight bytes at a time, not busy.
            self.memory[INFORMATION_CONTROL..INFORMATION_CONTROL + 2].copy_from_slice(&[0x40, 0]);
        }
    }

    /// Stores the times at which the present frame arrived, and returned from the devices after it.
    fn latch(&mut self, now_ns: u64) {
        let came = self.clock.local(now_ns);
        let back = came.wrapping_add(self.behind_ns);
        let times = [came as u32, back as u32, 0, 0];
        for (number, time) in times.into_iter().enumerate() {
            let at = PORT_TIMES + 4 * number;
            self.memory[at..at + 4].copy_from_slice(&time.to_le_bytes());
        }
        self.memory[RECEIVE_TIME..RECEIVE_TIME + 8].copy_from_slice(&came.to_le_bytes());
    }

    fn number(&self, register: usize, bytes: usize) -> u64 {
        let mut number = [0; 8];
        number[..bytes].copy_from_slice(&self.memory[register..register + bytes]);
        u64::from_le_bytes(number)
    }

    /// Exchanges the part of its memory that the device's mappings show.
    fn map(&mut self, datagram: &mut Datagram<'_>, access: Access) {
        let first = u64::from(datagram.logical());
        let (mut was_read, mut was_written) = (false, false);
        let sent = datagram.data.to_vec();
        for number in 0..8 {
            let at = MAPPINGS + MAPPING * number;
            if self.memory[at + 12] & 1 == 0 {
                continue;
            }
            let kind = self.memory[at + 11];
            let (logical, length) = (self.number(at, 4), self.number(at + 4, 2));
            let physical = self.number(at + 8, 2);
            for byte in 0..length {
                let Some(place) = (logical + byte).checked_sub(first) else {
                    continue;
                };
                let (place, memory) = (place as usize, (physical + byte) as usize);
                if place >= sent.len() || memory >= MEMORY {
                    continue;
                }
                if access.read && kind & 1 != 0 {
                    datagram.data[place] = self.memory[memory];
                    was_read = true;
                }
                if access.write && kind & 2 != 0 {
                    self.memory[memory] = sent[place];
                    was_written = true;
                }
            }
        }
        if was_written {
            // The master's outputs come back with the next frame.
            let (outputs, inputs) = (usize::from(OUTPUTS), usize::from(INPUTS));
            self.memory
                .copy_within(outputs..outputs + PROCESS_DATA, inputs);
        }
        let weight = match (was_read, was_written, access.read && access.write) {
            (_, false, _) => u16::from(was_read),
            (_, true, false) => 1,
            (_, true, true) => u16::from(was_read) + 2,
        };
        datagram.count(weight);
    }
}

fn read_or_write(read: bool) -> Access {
    Access { read, write: !read }
}

#[cfg(test)]
mod tests;
