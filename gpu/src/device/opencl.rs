//! Devices by OpenCL 1.2. The kernel is source text, which the driver compiles.

#![allow(
    unsafe_code,
    reason = "commands are queued by calls that can't be checked"
)]

use super::{About, COPY, Device, Interface};
use crate::error::GpuError;
use crate::matrix;
use opencl3::command_queue::{CL_QUEUE_PROFILING_ENABLE, CommandQueue};
use opencl3::context::Context;
use opencl3::device::{CL_DEVICE_TYPE_ALL, CL_DEVICE_TYPE_CPU, Device as Chosen, get_all_devices};
use opencl3::error_codes::{CL_PLATFORM_NOT_FOUND_KHR, ClError};
use opencl3::event::Event;
use opencl3::kernel::{ExecuteKernel, Kernel};
use opencl3::memory::{Buffer, CL_MEM_READ_ONLY, CL_MEM_READ_WRITE};
use opencl3::program::Program;
use opencl3::types::{CL_BLOCKING, CL_NON_BLOCKING, cl_float, cl_uchar};
use std::ptr::null_mut;
use std::time::Duration;

const KERNEL: &str = include_str!("../../kernels/multiply.cl");

/// A device that is ready.
pub struct OpenCl {
    about: About,
    queue: CommandQueue,
    kernel: Kernel,
    left: Buffer<cl_float>,
    right: Buffer<cl_float>,
    product: Buffer<cl_float>,
    on_device: Buffer<cl_uchar>,
    on_host: Vec<u8>,
    // Dropped after everything that was created in it.
    _context: Context,
}

fn failed(action: &'static str) -> impl Fn(ClError) -> GpuError + Copy {
    GpuError::call(Interface::Opencl, action)
}

impl OpenCl {
    /// Makes the device with this number ready; those of all platforms count, GPUs first.
    pub fn start(number: usize) -> Result<Self, GpuError> {
        let refused = |why: String| GpuError::NoInterface {
            interface: Interface::Opencl,
            why,
        };
        if !cl3::is_opencl_runtime_available() {
            return Err(refused(
                "libOpenCL.so is not here: package ocl-icd-libopencl1, and a driver".into(),
            ));
        }
        let mut devices: Vec<Chosen> = get_all_devices(CL_DEVICE_TYPE_ALL)
            .map_err(|error| match error.0 {
                CL_PLATFORM_NOT_FOUND_KHR => refused("no driver for it is installed".into()),
                _ => refused(error.to_string()),
            })?
            .into_iter()
            .map(Chosen::new)
            .collect();
        devices.sort_by_key(is_software);
        let there = devices.len();
        if there == 0 {
            return Err(refused("no driver for it is installed".into()));
        }
        let device = devices.into_iter().nth(number).ok_or(GpuError::NoDevice {
            interface: Interface::Opencl,
            wanted: number,
            there: super::counted(there),
        })?;
        let opened = failed("cannot open the device");
        let about = About {
            interface: Interface::Opencl,
            device: number,
            name: device.name().map_err(opened)?.trim().to_owned(),
            driver: format!(
                "{}, driver {}",
                device.version().map_err(opened)?.trim(),
                device.driver_version().map_err(opened)?.trim()
            ),
            is_software: is_software(&device),
        };
        let context = Context::from_device(&device).map_err(opened)?;
        // Deprecated with OpenCL 2.0, and the one call that all drivers have.
        #[allow(deprecated)]
        let queue =
            CommandQueue::create_default(&context, CL_QUEUE_PROFILING_ENABLE).map_err(opened)?;
        let program = Program::create_and_build_from_source(&context, KERNEL, "").map_err(
            GpuError::call(Interface::Opencl, "cannot compile the kernel"),
        )?;
        let kernel =
            Kernel::create(&program, "multiply").map_err(failed("cannot find the kernel"))?;
        let memory = failed("cannot have memory");
        let floats = |flags| {
            // SAFETY: without a host's memory there is nothing that could be too short.
            unsafe { Buffer::create(&context, flags, matrix::ELEMENTS, null_mut()) }.map_err(memory)
        };
        let mut left = floats(CL_MEM_READ_ONLY)?;
        let mut right = floats(CL_MEM_READ_ONLY)?;
        let product = floats(CL_MEM_READ_WRITE)?;
        // SAFETY: as above.
        let on_device = unsafe { Buffer::create(&context, CL_MEM_READ_WRITE, COPY, null_mut()) }
            .map_err(memory)?;
        for (buffer, elements) in [(&mut left, matrix::left()), (&mut right, matrix::right())] {
            // SAFETY: both are of this length, and the call returns when it has been copied.
            unsafe { queue.enqueue_write_buffer(buffer, CL_BLOCKING, 0, &elements, &[]) }
                .map_err(memory)?;
        }
        Ok(Self {
            about,
            queue,
            kernel,
            left,
            right,
            product,
            on_device,
            on_host: vec![0x5a; COPY],
            _context: context,
        })
    }

    /// Waits for all that was queued; the time that the device was at these.
    fn waited(&self, events: &[Event]) -> Result<Duration, GpuError> {
        let ended = failed("the device stopped to work");
        self.queue.finish().map_err(ended)?;
        let mut busy_ns = 0;
        for event in events {
            let end = event.profiling_command_end().map_err(ended)?;
            let begin = event.profiling_command_start().map_err(ended)?;
            busy_ns += end.saturating_sub(begin);
        }
        Ok(Duration::from_nanos(busy_ns))
    }
}

fn is_software(device: &Chosen) -> bool {
    device
        .dev_type()
        .is_ok_and(|kind| kind & CL_DEVICE_TYPE_CPU != 0)
}

impl Device for OpenCl {
    fn about(&self) -> &About {
        &self.about
    }

    fn multiply(&mut self, times: u32) -> Result<Duration, GpuError> {
        let mut events = Vec::with_capacity(times as usize);
        for _ in 0..times {
            let mut launch = ExecuteKernel::new(&self.kernel);
            // SAFETY: the kernel takes these three, each with as many elements as the grid reaches.
            let event = unsafe {
                launch
                    .set_arg(&self.left)
                    .set_arg(&self.right)
                    .set_arg(&self.product)
                    .set_global_work_sizes(&[matrix::SIZE, matrix::SIZE])
                    .enqueue_nd_range(&self.queue)
            };
            events.push(event.map_err(failed("cannot start the kernel"))?);
        }
        self.waited(&events)
    }

    fn product(&mut self) -> Result<Vec<f32>, GpuError> {
        let mut product = vec![0.0; matrix::ELEMENTS];
        // SAFETY: both are of this length, and the call returns when it has been copied.
        unsafe {
            self.queue
                .enqueue_read_buffer(&self.product, CL_BLOCKING, 0, &mut product, &[])
        }
        .map_err(failed("cannot read the product"))?;
        Ok(product)
    }

    fn copy(&mut self, times: u32) -> Result<Duration, GpuError> {
        let copied = failed("cannot copy");
        let mut events = Vec::with_capacity(2 * times as usize);
        for _ in 0..times {
            // SAFETY: both are of this length; the queue is in order and waited for below, while neither
            // is touched.
            unsafe {
                let to = &mut self.on_device;
                let wrote =
                    self.queue
                        .enqueue_write_buffer(to, CL_NON_BLOCKING, 0, &self.on_host, &[]);
                events.push(wrote.map_err(copied)?);
                let to = &mut self.on_host;
                let read =
                    self.queue
                        .enqueue_read_buffer(&self.on_device, CL_NON_BLOCKING, 0, to, &[]);
                events.push(read.map_err(copied)?);
            }
        }
        self.waited(&events)
    }
}
