//! The datagrams of an EtherCAT frame, found in its bytes (ETG.1000.4, 5.3 and 5.4). Pure.

/// Ethernet type of EtherCAT frames.
pub(crate) const ETHERTYPE: u16 = 0x88a4;

/// Ethernet header and EtherCAT header.
const BEFORE: usize = 14 + 2;
/// Command, index, address, length, interrupt.
const HEADER: usize = 10;
const COUNTER: usize = 2;

/// A datagram's command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Command {
    /// By position in the ring.
    Position(Access),
    /// By configured address.
    Station(Access),
    /// All devices.
    Broadcast(Access),
    /// By an address that devices map into their memory.
    Logical(Access),
    /// Read from the device at a position, written to all others.
    PositionReadOthersWrite,
    /// Read from the device with a configured address, written to all others.
    StationReadOthersWrite,
}

/// To read, to write, or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Access {
    pub(crate) read: bool,
    pub(crate) write: bool,
}

const READ: Access = Access {
    read: true,
    write: false,
};
const WRITE: Access = Access {
    read: false,
    write: true,
};
const BOTH: Access = Access {
    read: true,
    write: true,
};

impl Command {
    fn new(code: u8) -> Option<Self> {
        Some(match code {
            1 => Self::Position(READ),
            2 => Self::Position(WRITE),
            3 => Self::Position(BOTH),
            4 => Self::Station(READ),
            5 => Self::Station(WRITE),
            6 => Self::Station(BOTH),
            7 => Self::Broadcast(READ),
            8 => Self::Broadcast(WRITE),
            9 => Self::Broadcast(BOTH),
            10 => Self::Logical(READ),
            11 => Self::Logical(WRITE),
            12 => Self::Logical(BOTH),
            13 => Self::PositionReadOthersWrite,
            14 => Self::StationReadOthersWrite,
            _ => return None,
        })
    }
}

/// One datagram, in place.
pub(crate) struct Datagram<'frame> {
    pub(crate) command: Command,
    address: &'frame mut [u8],
    pub(crate) data: &'frame mut [u8],
    counter: &'frame mut [u8],
}

impl Datagram<'_> {
    /// Position or configured address.
    pub(crate) fn device(&self) -> u16 {
        u16::from_le_bytes([self.address[0], self.address[1]])
    }

    pub(crate) fn set_device(&mut self, device: u16) {
        self.address[..2].copy_from_slice(&device.to_le_bytes());
    }

    /// Offset in the device's memory.
    pub(crate) fn offset(&self) -> u16 {
        u16::from_le_bytes([self.address[2], self.address[3]])
    }

    /// Offset in the memory that all devices share.
    pub(crate) fn logical(&self) -> u32 {
        u32::from_le_bytes([
            self.address[0],
            self.address[1],
            self.address[2],
            self.address[3],
        ])
    }

    /// Counts that a device took part.
    pub(crate) fn count(&mut self, by: u16) {
        let counted = u16::from_le_bytes([self.counter[0], self.counter[1]]).wrapping_add(by);
        self.counter.copy_from_slice(&counted.to_le_bytes());
    }

    #[cfg(test)]
    pub(crate) fn counted(&self) -> u16 {
        u16::from_le_bytes([self.counter[0], self.counter[1]])
    }
}

/// Whether these are the bytes of an EtherCAT frame with datagrams.
pub(crate) fn is_ethercat(frame: &[u8]) -> bool {
    frame.len() > BEFORE && frame[12..14] == ETHERTYPE.to_be_bytes() && frame[15] >> 4 == 1
}

/// Calls `with` for each datagram of a frame, in order, and stops at an invalid one.
pub(crate) fn for_each(frame: &mut [u8], mut with: impl FnMut(Datagram<'_>)) {
    if !is_ethercat(frame) {
        return;
    }
    let length = usize::from(u16::from_le_bytes([frame[14], frame[15]]) & 0x07ff);
    let end = (BEFORE + length).min(frame.len());
    let mut rest = &mut frame[BEFORE..end];
    while rest.len() >= HEADER + COUNTER {
        let length = u16::from_le_bytes([rest[6], rest[7]]);
        let (data, more) = (usize::from(length & 0x07ff), length & 0x8000 != 0);
        if rest.len() < HEADER + data + COUNTER {
            return;
        }
        let (one, others) = rest.split_at_mut(HEADER + data + COUNTER);
        let (header, one) = one.split_at_mut(HEADER);
        let (data, counter) = one.split_at_mut(data);
        if let Some(command) = Command::new(header[0]) {
            with(Datagram {
                command,
                address: &mut header[2..6],
                data,
                counter,
            });
        }
        if !more {
            return;
        }
        rest = others;
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A frame of these datagrams: command, address, data.
    pub(crate) fn frame(datagrams: &[(u8, [u8; 4], &[u8])]) -> Vec<u8> {
        let mut body = Vec::new();
        for (number, (command, address, data)) in datagrams.iter().enumerate() {
            let more = u16::from(number + 1 < datagrams.len()) << 15;
            body.extend([*command, 7]);
            body.extend(address);
            body.extend((data.len() as u16 | more).to_le_bytes());
            body.extend([0, 0]);
            body.extend(*data);
            body.extend([0, 0]);
        }
        let mut frame = vec![0xff; 12];
        frame.extend(ETHERTYPE.to_be_bytes());
        frame.extend((body.len() as u16 | 0x1000).to_le_bytes());
        frame.extend(body);
        frame
    }

    #[test]
    fn each_datagram_is_found_with_its_address_and_data() {
        let mut frame = frame(&[(7, [0, 0, 0x30, 1], &[0, 0]), (12, [4, 3, 2, 1], &[9; 5])]);
        let mut found = Vec::new();
        for_each(&mut frame, |mut one| {
            one.count(3);
            found.push((one.command, one.offset(), one.logical(), one.data.len()));
        });
        assert_eq!(
            found,
            [
                (Command::Broadcast(READ), 0x0130, 0x0130_0000, 2),
                (Command::Logical(BOTH), 0x0102, 0x0102_0304, 5),
            ]
        );
        let mut counted = Vec::new();
        for_each(&mut frame, |one| counted.push(one.counted()));
        assert_eq!(counted, [3, 3]);
    }

    #[test]
    fn bytes_that_are_no_frame_or_end_early_hold_nothing_and_harm_nobody() {
        let whole = frame(&[(12, [0; 4], &[1; 40])]);
        for length in 0..whole.len() {
            let mut cut = whole[..length].to_vec();
            for_each(&mut cut, |_| panic!("{length} bytes are not a datagram"));
        }
        let mut other = whole;
        other[12] = 8;
        for_each(&mut other, |_| panic!("another protocol"));
    }
}
