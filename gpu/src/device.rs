//! Operations of a device, independent of its interface.
//!
//! The interfaces have a file each.

mod cuda;
mod opencl;
mod vulkan;

use crate::error::GpuError;
use serde::Serialize;
use std::time::Duration;

/// Bytes of one copy, in each direction.
pub const COPY: usize = 16 << 20;

/// Interface to a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Interface {
    /// NVIDIA's driver, `libcuda.so.1`.
    Cuda,
    /// `libvulkan.so.1`.
    Vulkan,
    /// `libOpenCL.so.1`.
    Opencl,
}

impl Interface {
    /// In the order in which they are tried.
    pub const ALL: [Self; 3] = [Self::Cuda, Self::Vulkan, Self::Opencl];

    /// As users write it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Cuda => "cuda",
            Self::Vulkan => "vulkan",
            Self::Opencl => "opencl",
        }
    }

    /// As its makers write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cuda => "CUDA",
            Self::Vulkan => "Vulkan",
            Self::Opencl => "OpenCL",
        }
    }
}

/// A device's description of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct About {
    /// Its interface.
    pub interface: Interface,
    /// Its number there.
    pub device: usize,
    /// Its name.
    pub name: String,
    /// The driver and its version.
    pub driver: String,
    /// Whether it is a program on the CPU.
    pub is_software: bool,
}

/// A device, ready to work. Each call returns when its work is done.
pub trait Device {
    /// Its description.
    fn about(&self) -> &About;

    /// Multiplies `times` times. Returns the time that the device worked, by its own clock.
    fn multiply(&mut self, times: u32) -> Result<Duration, GpuError>;

    /// The product in the device's memory.
    fn product(&mut self) -> Result<Vec<f32>, GpuError>;

    /// Copies [`COPY`] bytes from the host to the device and back, `times` times. Returns the time
    /// that the device worked.
    fn copy(&mut self, times: u32) -> Result<Duration, GpuError>;
}

/// Prepares a device: number `number` of `interface`, or of the first that has one. Real devices
/// come before simulated ones on the CPU.
pub fn start(interface: Option<Interface>, number: usize) -> Result<Box<dyn Device>, GpuError> {
    if let Some(interface) = interface {
        return one(interface, number);
    }
    let (mut software, mut why_not) = (None, Vec::new());
    for interface in Interface::ALL {
        match one(interface, number) {
            Ok(device) if device.about().is_software => software = software.or(Some(device)),
            Ok(device) => return Ok(device),
            Err(why) => why_not.push(why.to_string()),
        }
    }
    software.ok_or(GpuError::Nothing(why_not))
}

fn one(interface: Interface, number: usize) -> Result<Box<dyn Device>, GpuError> {
    Ok(match interface {
        Interface::Cuda => Box::new(cuda::Cuda::start(number)?),
        Interface::Vulkan => Box::new(vulkan::Vulkan::start(number)?),
        Interface::Opencl => Box::new(opencl::OpenCl::start(number)?),
    })
}

fn counted(devices: usize) -> String {
    match devices {
        0 => "none is".into(),
        1 => "only device 0 is".into(),
        _ => format!("devices 0 to {} are", devices - 1),
    }
}
