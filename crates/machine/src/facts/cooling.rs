//! Heat and supply: temperatures, active cooling, throttle counters, under-voltage.
//!
//! Other rooms decide how warm is too warm.

use serde::{Deserialize, Serialize};

use crate::{Reading, Root};

const THERMAL: &str = "/sys/class/thermal";
const HWMON: &str = "/sys/class/hwmon";

/// The machine's temperatures and cooling.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Cooling {
    /// The thermal zones.
    pub zones: Vec<ThermalZone>,
    /// Fans, and ways to make less heat.
    pub devices: Vec<CoolingDevice>,
    /// How often x86 CPUs slowed themselves down.
    pub heat_throttling: Vec<HeatThrottling>,
    /// Supply alarms of boards.
    pub under_voltage: Vec<UnderVoltage>,
    /// The Raspberry Pi firmware's `get_throttled` bits, in hexadecimal.
    pub pi_throttled: Reading<String>,
    /// The Jetson power mode last chosen.
    pub jetson_power_mode: Reading<String>,
}

/// A place with a thermometer.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ThermalZone {
    /// The number in `thermal_zoneN`.
    pub zone: u32,
    /// `cpu-thermal`, `x86_pkg_temp`, …
    pub kind: Reading<String>,
    /// In thousandths of a degree Celsius.
    pub millidegrees: Reading<i64>,
}

/// Something that cools or makes less heat.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CoolingDevice {
    /// The number in `cooling_deviceN`.
    pub device: u32,
    /// `Processor`, `cpufreq-cpu0`, `pwm-fan`, …
    pub kind: Reading<String>,
    /// 0 or less: not cooling.
    pub state: Reading<i64>,
    /// The strongest cooling.
    pub strongest: Reading<i64>,
}

impl CoolingDevice {
    /// Whether it is a fan: it cools without slowing anything down.
    pub fn is_fan(&self) -> bool {
        self.kind
            .known()
            .is_some_and(|kind| kind.to_ascii_lowercase().contains("fan"))
    }
}

/// One CPU's throttle counters since boot.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct HeatThrottling {
    /// The CPU.
    pub cpu: u16,
    /// How often its core slowed down.
    pub core: Reading<u64>,
    /// How often its package slowed down.
    pub package: Reading<u64>,
}

/// A supply monitor with an alarm.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct UnderVoltage {
    /// `rpi_volt`, …
    pub monitor: Reading<String>,
    /// 1 while (or, on a Raspberry Pi, since) the supply is too low.
    pub alarm: Reading<u32>,
}

impl Cooling {
    pub(super) fn read(root: &Root) -> Self {
        let zones = root
            .numbered(THERMAL, "thermal_zone")
            .into_iter()
            .map(|zone| {
                let folder = format!("{THERMAL}/thermal_zone{zone}");
                ThermalZone {
                    zone,
                    kind: root.text(&format!("{folder}/type")),
                    millidegrees: root.number(&format!("{folder}/temp")),
                }
            });
        let devices = root
            .numbered(THERMAL, "cooling_device")
            .into_iter()
            .map(|device| {
                let folder = format!("{THERMAL}/cooling_device{device}");
                CoolingDevice {
                    device,
                    kind: root.text(&format!("{folder}/type")),
                    state: root.number(&format!("{folder}/cur_state")),
                    strongest: root.number(&format!("{folder}/max_state")),
                }
            });
        let cpus = root.numbered("/sys/devices/system/cpu", "cpu").into_iter();
        let throttling = cpus.map(|cpu| {
            let folder = format!("/sys/devices/system/cpu/cpu{cpu}/thermal_throttle");
            HeatThrottling {
                cpu,
                core: root.number(&format!("{folder}/core_throttle_count")),
                package: root.number(&format!("{folder}/package_throttle_count")),
            }
        });
        let monitors = root
            .numbered::<u32>(HWMON, "hwmon")
            .into_iter()
            .map(|monitor| {
                let folder = format!("{HWMON}/hwmon{monitor}");
                UnderVoltage {
                    monitor: root.text(&format!("{folder}/name")),
                    alarm: root.number(&format!("{folder}/in0_lcrit_alarm")),
                }
            });
        Self {
            zones: zones.collect(),
            devices: devices.collect(),
            // Listed only if there is something: most machines have neither.
            heat_throttling: throttling
                .filter(|counts| !counts.core.is_absent())
                .collect(),
            under_voltage: monitors
                .filter(|monitor| !monitor.alarm.is_absent())
                .collect(),
            pi_throttled: root.text("/sys/devices/platform/soc/soc:firmware/get_throttled"),
            jetson_power_mode: root.text("/var/lib/nvpmodel/status"),
        }
    }

    /// The hottest zone, in thousandths of a degree Celsius.
    pub fn hottest_millidegrees(&self) -> Option<i64> {
        self.zones
            .iter()
            .filter_map(|zone| zone.millidegrees.known().copied())
            .max()
    }
}
