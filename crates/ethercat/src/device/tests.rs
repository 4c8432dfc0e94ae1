//! Counters and memory of a device, by the tables of ETG.1000.4.

use super::*;
use crate::datagram::for_each;
use crate::datagram::tests::frame;

fn ring(devices: u16) -> Vec<Device> {
    let device = |index| Device::new(index, devices, 0, 500);
    (0..devices).map(device).collect()
}

/// Passes a frame with one datagram through all devices; returns its data, and the working counter.
fn pass(ring: &mut [Device], command: u8, address: [u8; 4], data: &[u8]) -> (Vec<u8>, u16) {
    let mut frame = frame(&[(command, address, data)]);
    for device in ring {
        for_each(&mut frame, |mut one| device.pass(&mut one, 1_000));
    }
    let mut answer = (Vec::new(), 0);
    for_each(&mut frame, |one| {
        answer = (one.data.to_vec(), one.counted())
    });
    answer
}

fn register(device: u16, register: u16) -> [u8; 4] {
    let (device, register) = (device.to_le_bytes(), register.to_le_bytes());
    [device[0], device[1], register[0], register[1]]
}

/// Gives each device an address, and maps its outputs and inputs one after the other.
fn configured(devices: u16) -> Vec<Device> {
    let mut ring = ring(devices);
    for index in 0..devices {
        let position = 0_u16.wrapping_sub(index);
        let address = (0x1000 + index).to_le_bytes();
        assert_eq!(pass(&mut ring, 2, register(position, 0x10), &address).1, 1);
        for (number, physical, kind) in [(0, OUTPUTS, 2), (1, INPUTS, 1)] {
            let logical = u32::from(index) * 16 + 8 * number;
            let mut mapping = logical.to_le_bytes().to_vec();
            mapping.extend([8, 0, 0, 7]);
            mapping.extend(physical.to_le_bytes());
            mapping.extend([0, kind, 1, 0, 0, 0]);
            let at = 0x0600 + 16 * number as u16;
            let (_, counted) = pass(&mut ring, 5, register(0x1000 + index, at), &mapping);
            assert_eq!(counted, 1);
        }
    }
    ring
}

#[test]
fn a_broadcast_counts_every_device_and_collects_their_bits() {
    let mut ring = ring(3);
    assert_eq!(
        pass(&mut ring, 7, register(0, 0x0000), &[0]),
        (vec![0x11], 3)
    );
    assert_eq!(pass(&mut ring, 7, register(0, 0x0130), &[0]), (vec![1], 3));
}

#[test]
fn a_position_is_counted_up_by_each_device_and_meets_one() {
    let mut ring = ring(3);
    let second = 0_u16.wrapping_sub(1);
    assert_eq!(pass(&mut ring, 2, register(second, 0x10), &[7, 0x10]).1, 1);
    assert_eq!(
        pass(&mut ring, 4, register(0x1007, 0x10), &[0, 0]),
        (vec![7, 0x10], 1)
    );
    assert_eq!(pass(&mut ring, 4, register(0x1008, 0x10), &[0, 0]).1, 0);
}

#[test]
fn process_data_counts_three_for_each_device_and_what_is_sent_comes_back_next() {
    let mut ring = configured(3);
    let mut sent = vec![0; 48];
    sent[..8].copy_from_slice(&[1; 8]);
    sent[32..40].copy_from_slice(&[3; 8]);
    let (answer, counted) = pass(&mut ring, 12, [0; 4], &sent);
    assert_eq!((counted, &answer[8..16]), (9, &[0; 8][..]));
    let (answer, counted) = pass(&mut ring, 12, [0; 4], &sent);
    assert_eq!(
        (counted, &answer[8..16], &answer[40..]),
        (9, &[1; 8][..], &[3; 8][..])
    );
    // A read alone and a write alone count one each.
    assert_eq!(pass(&mut ring, 10, [0; 4], &sent).1, 3);
    assert_eq!(pass(&mut ring, 11, [0; 4], &sent).1, 3);
    ring[1].takes_part = false;
    assert_eq!(pass(&mut ring, 12, [0; 4], &sent).1, 6);
}

#[test]
fn the_reference_clock_is_read_and_written_to_all_others() {
    let mut ring = configured(3);
    let (time, counted) = pass(&mut ring, 14, register(0x1000, 0x0910), &[0; 8]);
    assert_eq!(
        (u64::from_le_bytes(time.try_into().unwrap()), counted),
        (1_000, 3)
    );
}

#[test]
fn an_address_outside_of_the_memory_meets_nobody() {
    let mut ring = configured(2);
    assert_eq!(pass(&mut ring, 7, register(0, 0x1fff), &[0, 0]).1, 0);
    assert_eq!(pass(&mut ring, 12, [0, 0, 0, 0x80], &[0; 8]).1, 0);
}

#[test]
fn a_state_that_is_asked_for_is_reached() {
    let mut ring = ring(2);
    assert_eq!(pass(&mut ring, 8, register(0, 0x0120), &[8, 0]).1, 2);
    assert!(ring.iter().all(Device::is_operational));
}
