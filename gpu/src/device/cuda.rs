//! NVIDIA's devices, by the driver's own library: no toolkit is needed. The kernel is PTX text, which the
//! driver compiles for the device.

#![allow(
    unsafe_code,
    reason = "launching kernels and allocating pinned memory need calls that can't be checked"
)]

use super::{About, COPY, Device, Interface};
use crate::error::GpuError;
use crate::matrix;
use cudarc::driver::sys::CUevent_flags::CU_EVENT_DEFAULT;
use cudarc::driver::{
    CudaContext, CudaFunction, CudaSlice, CudaStream, DriverError, LaunchConfig, PinnedHostSlice,
    PushKernelArg, result, sys,
};
use cudarc::nvrtc::Ptx;
use std::sync::Arc;
use std::time::Duration;

const KERNEL: &str = include_str!("../../kernels/multiply.ptx");
/// Threads of a block, on each side.
const BLOCK: u32 = 16;

/// A device that is ready.
pub struct Cuda {
    about: About,
    stream: Arc<CudaStream>,
    multiply: CudaFunction,
    left: CudaSlice<f32>,
    right: CudaSlice<f32>,
    product: CudaSlice<f32>,
    on_device: CudaSlice<u8>,
    on_host: PinnedHostSlice<u8>,
}

fn failed(action: &'static str) -> impl Fn(DriverError) -> GpuError + Copy {
    GpuError::call(Interface::Cuda, action)
}

impl Cuda {
    /// Makes the device with this number ready.
    pub fn start(number: usize) -> Result<Self, GpuError> {
        let refused = |why: String| GpuError::NoInterface {
            interface: Interface::Cuda,
            why,
        };
        // SAFETY: it opens the driver's library, whose initialization is as safe as the driver.
        if !unsafe { sys::is_culib_present() } {
            return Err(refused(
                "libcuda.so is not here: NVIDIA's driver brings it".into(),
            ));
        }
        result::init().map_err(|error| refused(error.to_string()))?;
        let there = CudaContext::device_count().map_err(|error| refused(error.to_string()))?;
        if usize::try_from(there).is_ok_and(|there| number >= there) {
            return Err(GpuError::NoDevice {
                interface: Interface::Cuda,
                wanted: number,
                there: super::counted(there.unsigned_abs() as usize),
            });
        }
        // Waiting is for the device to wake this thread, not for a CPU to ask it over and over.
        let waiting = sys::CUctx_flags::CU_CTX_SCHED_BLOCKING_SYNC as u32;
        let context = CudaContext::new_non_primary(number, waiting)
            .map_err(failed("cannot open the device"))?;
        let stream = context.default_stream();
        let about = About {
            interface: Interface::Cuda,
            device: number,
            name: context.name().map_err(failed("cannot name the device"))?,
            driver: version()?,
            is_software: false,
        };
        let module = context
            .load_module(Ptx::from_src(KERNEL))
            .map_err(failed("cannot load the kernel"))?;
        let multiply = module
            .load_function("multiply")
            .map_err(failed("cannot find the kernel"))?;
        let memory = failed("cannot have memory");
        // SAFETY: it is written below, before anything reads it.
        let mut on_host =
            unsafe { context.alloc_pinned_with_flags::<u8>(COPY, 0) }.map_err(memory)?;
        on_host.as_mut_slice().map_err(memory)?.fill(0x5a);
        Ok(Self {
            about,
            multiply,
            left: stream.clone_htod(&matrix::left()).map_err(memory)?,
            right: stream.clone_htod(&matrix::right()).map_err(memory)?,
            product: stream.alloc_zeros(matrix::ELEMENTS).map_err(memory)?,
            on_device: stream.alloc_zeros(COPY).map_err(memory)?,
            on_host,
            stream,
        })
    }

    /// Runs the work that `work` puts into the stream; returns the device's working time.
    fn timed(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<(), DriverError>,
    ) -> Result<Duration, GpuError> {
        let ended = failed("the device stopped to work");
        let begin = self
            .stream
            .record_event(Some(CU_EVENT_DEFAULT))
            .map_err(ended)?;
        work(self).map_err(ended)?;
        let end = self
            .stream
            .record_event(Some(CU_EVENT_DEFAULT))
            .map_err(ended)?;
        let milliseconds = begin.elapsed_ms(&end).map_err(ended)?;
        Ok(Duration::from_secs_f32(milliseconds.max(0.0) / 1e3))
    }
}

/// Version of the driver's interface, such as "CUDA 12.4".
fn version() -> Result<String, GpuError> {
    let mut version = 0;
    // SAFETY: it writes one number to the place that it is given.
    unsafe { sys::cuDriverGetVersion(&raw mut version) }
        .result()
        .map_err(failed("cannot tell the driver's version"))?;
    Ok(format!("CUDA {}.{}", version / 1000, version % 1000 / 10))
}

impl Device for Cuda {
    fn about(&self) -> &About {
        &self.about
    }

    fn multiply(&mut self, times: u32) -> Result<Duration, GpuError> {
        let blocks = matrix::SIZE as u32 / BLOCK;
        let shape = LaunchConfig {
            grid_dim: (blocks, blocks, 1),
            block_dim: (BLOCK, BLOCK, 1),
            shared_mem_bytes: 0,
        };
        self.timed(|own| {
            for _ in 0..times {
                let mut launch = own.stream.launch_builder(&own.multiply);
                launch.arg(&own.left).arg(&own.right).arg(&mut own.product);
                // SAFETY: the kernel takes these three, each with as many elements as the grid
                // reaches.
                unsafe { launch.launch(shape) }?;
            }
            Ok(())
        })
    }

    fn product(&mut self) -> Result<Vec<f32>, GpuError> {
        self.stream
            .clone_dtoh(&self.product)
            .map_err(failed("cannot read the product"))
    }

    fn copy(&mut self, times: u32) -> Result<Duration, GpuError> {
        self.timed(|own| {
            for _ in 0..times {
                own.stream.memcpy_htod(&own.on_host, &mut own.on_device)?;
                own.stream.memcpy_dtoh(&own.on_device, &mut own.on_host)?;
            }
            Ok(())
        })
    }
}
