//! Brings the devices of a bus into operation and exchanges process data on request.
//!
//! It judges no exchange.

use crate::drive::{NotDriven, Wire, now_ns};
use ethercrab::error::Error;
use ethercrab::subdevice_group::{DcConfiguration, HasDc, NoDc, Op, PreOp, SubDeviceGroup};
use ethercrab::{
    Command, DcSync, DefaultLock, MainDevice, MainDeviceConfig, PduStorage, RegisterAddress,
    RetryBehaviour, Timeouts,
};
use std::time::Duration;
use wakepath_ethercat::{EthercatError, Exchange, Link, Master};

/// Devices of one bus at most.
const DEVICES: usize = 64;
/// Their process data in bytes at most: one frame's.
const PROCESS_DATA: usize = 1100;
const FRAMES: usize = 8;
type Storage = PduStorage<FRAMES, { PduStorage::element_size(1400) }>;
type Group<State, Clock> = SubDeviceGroup<DEVICES, PROCESS_DATA, DefaultLock, State, Clock>;

/// Time limit for bringing a bus into operation.
const SETUP: Duration = Duration::from_secs(30);
/// Time after which a frame of the set-up is sent again.
const ANSWER: Duration = Duration::from_millis(200);
/// Longest wait of an exchange: its frames are never sent again.
const LONGEST: Duration = Duration::from_millis(150);
/// Comparisons of the clocks before the first exchange.
const COMPARISONS: u32 = 1000;
/// From the set-up to the devices' first synchronous output.
const FIRST_OUTPUT: Duration = Duration::from_millis(100);

/// Brings the devices on `link` into operation, for exchanges every `period`. Outputs are zero.
///
/// # Errors
/// One line: no answer, or a device's refusal.
pub fn start(link: Link, period: Duration) -> Result<Box<dyn Master>, EthercatError> {
    Ok(Box::new(Bus::start(link, period)?))
}

/// A bus in operation.
struct Bus {
    wire: Wire,
    main: &'static MainDevice<'static>,
    group: Operational,
    expected: u16,
    devices: u16,
    /// Station addresses of devices with a clock, except the reference.
    followers: Vec<u16>,
    next_follower: usize,
}

enum Operational {
    WithClock(Box<Group<Op, HasDc>>),
    Without(Box<Group<Op, NoDc>>),
}

impl Bus {
    fn start(link: Link, period: Duration) -> Result<Self, EthercatError> {
        let bus = link.name().to_owned();
        // Lives as long as the process, as every bus does.
        let storage: &'static Storage = Box::leak(Box::new(Storage::new()));
        let (tx, rx, pdus) = storage
            .try_split()
            .map_err(|()| EthercatError::Ring("no room for frames".into()))?;
        let timeouts = Timeouts {
            pdu: ANSWER,
            eeprom: Duration::from_millis(500),
            wait_loop_delay: Duration::from_micros(100),
            ..Timeouts::default()
        };
        let config = MainDeviceConfig {
            dc_static_sync_iterations: COMPARISONS,
            retry_behaviour: RetryBehaviour::Count(3),
        };
        let main: &'static MainDevice<'static> =
            Box::leak(Box::new(MainDevice::new(pdus, timeouts, config)));
        let mut wire = Wire {
            tx,
            rx,
            link,
            late: 0,
        };
        let deadline_ns = now_ns() + SETUP.as_nanos() as u64;
        let failed = |step| {
            let bus = bus.clone();
            move |error: NotDriven| match error {
                NotDriven::Broken(error) if error.raw_os_error() == Some(libc::ENETDOWN) => {
                    EthercatError::LinkDown { name: bus.clone() }
                }
                NotDriven::Broken(source) => EthercatError::System {
                    action: "exchange frames",
                    source,
                },
                NotDriven::Expired => setup(&bus, step, "they did not in 30 s"),
            }
        };
        let refused = |step, error: Error| setup(&bus, step, &error.to_string());
        let group: Group<PreOp, NoDc> = wire
            .drive(
                deadline_ns,
                main.init_single_group::<DEVICES, PROCESS_DATA>(now_ns),
            )
            .map_err(failed("configured"))?
            .map_err(|error| match error {
                // The first question already.
                Error::Timeout(_) if main.num_subdevices() == 0 => {
                    EthercatError::NoDevices { bus: bus.clone() }
                }
                Error::Capacity(_) => EthercatError::TooManyDevices {
                    bus: bus.clone(),
                    most: DEVICES,
                },
                error => refused("configured", error),
            })?;
        let mut group = group;
        let devices = main.num_subdevices() as u16;
        if devices == 0 {
            return Err(EthercatError::NoDevices { bus });
        }
        let mut followers = Vec::new();
        for mut device in group.iter_mut(main) {
            if device.dc_support().any() {
                device.set_dc_sync(DcSync::Sync0);
                followers.push(device.configured_address());
            }
        }
        let has_clock = !followers.is_empty();
        // The first one is the reference.
        followers.drain(..usize::from(has_clock));
        let step = "brought into operation";
        let group = if has_clock {
            let clock = DcConfiguration {
                start_delay: FIRST_OUTPUT,
                sync0_period: period,
                sync0_shift: period / 2,
            };
            let operational = async {
                let group = group.into_pre_op_pdi(main).await?;
                let group = group.configure_dc_sync(main, clock).await?;
                group.into_safe_op(main).await?.into_op(main).await
            };
            let group = wire.drive(deadline_ns, operational).map_err(failed(step))?;
            Operational::WithClock(Box::new(group.map_err(|error| refused(step, error))?))
        } else {
            let group = wire
                .drive(deadline_ns, group.into_op(main))
                .map_err(failed(step))?;
            Operational::Without(Box::new(group.map_err(|error| refused(step, error))?))
        };
        let expected = group.expected(main);
        if expected == 0 {
            return Err(EthercatError::NoProcessData { bus });
        }
        Ok(Self {
            wire,
            main,
            group,
            expected,
            devices,
            followers,
            next_follower: 0,
        })
    }
}

impl Master for Bus {
    fn exchange(&mut self, deadline_ns: u64) -> Exchange {
        let deadline_ns = deadline_ns.min(now_ns() + LONGEST.as_nanos() as u64);
        let (main, wire) = (self.main, &mut self.wire);
        // Frames that come now belong to an earlier exchange.
        if wire.drain().is_err() {
            return Exchange::NotSent;
        }
        let answer = match &self.group {
            Operational::WithClock(group) => wire
                .drive(deadline_ns, group.tx_rx_dc(main))
                .map(|answer| answer.map(|it| (it.working_counter, Some(it.extra.dc_system_time)))),
            Operational::Without(group) => wire
                .drive(deadline_ns, group.tx_rx(main))
                .map(|answer| answer.map(|it| (it.working_counter, None))),
        };
        match answer {
            Ok(Ok((counted, clock_ns))) if counted == self.expected => Exchange::Right { clock_ns },
            Ok(Ok((counted, _))) => Exchange::WrongCounter { counted },
            Ok(Err(Error::WorkingCounter { received, .. })) => {
                Exchange::WrongCounter { counted: received }
            }
            Ok(Err(_)) | Err(NotDriven::Expired) => Exchange::Unanswered,
            Err(NotDriven::Broken(_)) => Exchange::NotSent,
        }
    }

    fn clock_difference(&mut self, deadline_ns: u64) -> Option<u32> {
        let device = *self.followers.get(self.next_follower)?;
        self.next_follower = (self.next_follower + 1) % self.followers.len();
        let register = RegisterAddress::DcSystemTimeDifference;
        let reading = Command::fprd(device, register.into()).receive::<u32>(self.main);
        let register = self.wire.drive(deadline_ns, reading).ok()?.ok()?;
        Some(register & 0x7fff_ffff)
    }

    fn describe(&self, exchanged: Exchange) -> String {
        let (bus, expected) = (self.bus(), self.expected);
        let silent = matches!(exchanged, Exchange::Unanswered | Exchange::NotSent);
        if let Some(why) = self.wire.link.is_down().filter(|_| silent) {
            return format!("the link of {bus} went down: {why}");
        }
        match exchanged {
            Exchange::Right { .. } => format!("all devices on {bus} take part"),
            Exchange::WrongCounter { counted } => format!(
                "a device on {bus} stopped taking part: working counter {counted} where {expected} is right"
            ),
            Exchange::Unanswered => format!("{bus} stopped answering in time"),
            Exchange::NotSent => format!("{bus} has lost its link"),
        }
    }

    fn expected(&self) -> u16 {
        self.expected
    }

    fn devices(&self) -> u16 {
        self.devices
    }

    fn late(&self) -> u64 {
        self.wire.late
    }

    fn bus(&self) -> &str {
        self.wire.link.name()
    }
}

impl Operational {
    /// One for each device that is read, two for each that is written to.
    fn expected(&self, main: &MainDevice<'_>) -> u16 {
        let weight =
            |inputs: usize, outputs: usize| u16::from(inputs > 0) + 2 * u16::from(outputs > 0);
        match self {
            Self::WithClock(group) => group
                .iter(main)
                .map(|device| weight(device.inputs_raw().len(), device.outputs_raw().len()))
                .sum(),
            Self::Without(group) => group
                .iter(main)
                .map(|device| weight(device.inputs_raw().len(), device.outputs_raw().len()))
                .sum(),
        }
    }
}

fn setup(bus: &str, step: &'static str, said: &str) -> EthercatError {
    EthercatError::Setup {
        bus: bus.into(),
        step,
        said: said.into(),
    }
}
