//! The device that was chosen, opened with one queue that can compute.

use super::failed;
use crate::device::{About, Interface, counted};
use crate::error::GpuError;
use ash::{Device, Entry, Instance, vk};
use std::ffi::CStr;
use std::time::Duration;

/// A device and its queue.
pub(super) struct Chosen {
    pub(super) device: Device,
    pub(super) queue: vk::Queue,
    pub(super) family: u32,
    pub(super) memory: vk::PhysicalDeviceMemoryProperties,
    /// Nanoseconds of one step of the device's clock, and the bits of it that count.
    step_ns: f32,
    clock: u64,
    instance: Instance,
    // The library stays as long as anything of it.
    _entry: Entry,
}

impl Chosen {
    /// Opens the device with this number, and returns its description.
    pub(super) fn start(number: usize) -> Result<(Self, About), GpuError> {
        let refused = |why: String| GpuError::NoInterface {
            interface: Interface::Vulkan,
            why,
        };
        // SAFETY: it opens the loader's library, whose initialization is as safe as the drivers.
        let entry = unsafe { Entry::load() }.map_err(|_| {
            refused("libvulkan.so.1 is not here: package libvulkan1, and a driver".into())
        })?;
        let application = vk::ApplicationInfo::default()
            .application_name(c"wakepath-gpu")
            .api_version(vk::API_VERSION_1_1);
        let described = vk::InstanceCreateInfo::default().application_info(&application);
        // SAFETY: the description lives until the call returns; the library outlives the instance.
        let instance =
            unsafe { entry.create_instance(&described, None) }.map_err(|error| match error {
                vk::Result::ERROR_INCOMPATIBLE_DRIVER => {
                    refused("no driver for it is installed".into())
                }
                other => refused(other.to_string()),
            })?;
        match opened(&instance, number) {
            Ok((device, found)) => {
                let about = about(number, &found);
                // SAFETY: the queue was requested when the device was opened.
                let queue = unsafe { device.get_device_queue(found.family, 0) };
                // SAFETY: the device is of this instance.
                let memory =
                    unsafe { instance.get_physical_device_memory_properties(found.device) };
                let own = Self {
                    queue,
                    family: found.family,
                    memory,
                    step_ns: found.properties.limits.timestamp_period,
                    clock: u64::MAX >> (64 - found.clock_bits.clamp(1, 64)),
                    device,
                    instance,
                    _entry: entry,
                };
                Ok((own, about))
            }
            Err(error) => {
                // SAFETY: nothing of it is left.
                unsafe { instance.destroy_instance(None) };
                Err(error)
            }
        }
    }

    /// Duration of `steps` steps of the device's clock.
    pub(super) fn time(&self, steps: u64) -> Duration {
        let ns = (steps & self.clock) as f64 * f64::from(self.step_ns);
        Duration::from_nanos(ns as u64)
    }
}

impl Drop for Chosen {
    fn drop(&mut self) {
        // SAFETY: everything created on the device was destroyed before.
        unsafe {
            self.device.destroy_device(None);
            self.instance.destroy_instance(None);
        }
    }
}

/// One of the devices.
struct Found {
    device: vk::PhysicalDevice,
    properties: vk::PhysicalDeviceProperties,
    family: u32,
    clock_bits: u32,
}

fn opened(instance: &Instance, number: usize) -> Result<(Device, Found), GpuError> {
    let looked = failed("cannot look for devices");
    // SAFETY: the instance is there.
    let devices = unsafe { instance.enumerate_physical_devices() }.map_err(looked)?;
    let mut found: Vec<Found> = devices
        .into_iter()
        .filter_map(|device| {
            // SAFETY: the device is of this instance.
            let families = unsafe { instance.get_physical_device_queue_family_properties(device) };
            let (family, of) = (0..).zip(families).find(|(_, family)| {
                family.queue_flags.contains(vk::QueueFlags::COMPUTE)
                    && family.timestamp_valid_bits > 0
            })?;
            // SAFETY: as above.
            let properties = unsafe { instance.get_physical_device_properties(device) };
            Some(Found {
                device,
                properties,
                family,
                clock_bits: of.timestamp_valid_bits,
            })
        })
        .collect();
    found.sort_by_key(|found| match found.properties.device_type {
        vk::PhysicalDeviceType::DISCRETE_GPU => 0,
        vk::PhysicalDeviceType::INTEGRATED_GPU => 1,
        vk::PhysicalDeviceType::CPU => 3,
        _ => 2,
    });
    let there = found.len();
    let chosen = found.into_iter().nth(number).ok_or(GpuError::NoDevice {
        interface: Interface::Vulkan,
        wanted: number,
        there: counted(there),
    })?;
    let priorities = [0.5];
    let queues = [vk::DeviceQueueCreateInfo::default()
        .queue_family_index(chosen.family)
        .queue_priorities(&priorities)];
    let described = vk::DeviceCreateInfo::default().queue_create_infos(&queues);
    // SAFETY: the description lives until the call returns; the instance outlives the device.
    let device = unsafe { instance.create_device(chosen.device, &described, None) }
        .map_err(failed("cannot open the device"))?;
    Ok((device, chosen))
}

fn about(number: usize, found: &Found) -> About {
    let properties = &found.properties;
    let name = properties
        .device_name_as_c_str()
        .unwrap_or(c"without a name");
    let (version, driver) = (properties.api_version, properties.driver_version);
    About {
        interface: Interface::Vulkan,
        device: number,
        name: CStr::to_string_lossy(name).into_owned(),
        driver: format!(
            "Vulkan {}.{}.{}, driver 0x{driver:x}",
            vk::api_version_major(version),
            vk::api_version_minor(version),
            vk::api_version_patch(version)
        ),
        is_software: properties.device_type == vk::PhysicalDeviceType::CPU,
    }
}
