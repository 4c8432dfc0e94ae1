//! Devices by Vulkan 1.1: one queue for computing, one command buffer, recorded again for each
//! batch.
//!
//! The shader is compiled from `kernels/multiply.wgsl` when this program is built.

#![allow(unsafe_code, reason = "all of Vulkan is calls that can't be checked")]

mod chosen;
mod memory;

use super::{About, COPY, Device, Interface};
use crate::error::GpuError;
use crate::matrix;
use ash::vk;
use chosen::Chosen;
use memory::{Buffer, Kind};
use std::time::Duration;

const SHADER: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/multiply.spv"));
/// Invocations of a group, on each side. The shader has the same number.
const GROUP: u32 = 16;
/// Time limit of a batch. A driver resets a device that hangs after some seconds.
const PATIENCE_NS: u64 = 60_000_000_000;

/// A device that is ready.
pub struct Vulkan {
    about: About,
    chosen: Chosen,
    shader: vk::ShaderModule,
    layout: vk::PipelineLayout,
    bindings: vk::DescriptorSetLayout,
    pipeline: vk::Pipeline,
    sets: vk::DescriptorPool,
    set: vk::DescriptorSet,
    pool: vk::CommandPool,
    commands: vk::CommandBuffer,
    times: vk::QueryPool,
    over: vk::Fence,
    /// Left, right, product.
    matrices: [Buffer; 3],
    on_device: Buffer,
    on_host: Buffer,
}

fn failed(action: &'static str) -> impl Fn(vk::Result) -> GpuError + Copy {
    GpuError::call(Interface::Vulkan, action)
}

impl Vulkan {
    /// Makes the device with this number ready.
    pub fn start(number: usize) -> Result<Self, GpuError> {
        let (chosen, about) = Chosen::start(number)?;
        let device = &chosen.device;
        let ready = failed("cannot make the device ready");
        let matrix_bytes = (matrix::ELEMENTS * size_of::<f32>()) as u64;
        let matrices = [Some(matrix::left()), Some(matrix::right()), None].map(|elements| {
            let buffer = Buffer::new(&chosen, matrix_bytes, Kind::Shared)?;
            if let Some(elements) = elements {
                buffer.write(&chosen, &elements)?;
            }
            Ok(buffer)
        });
        let [left, right, product] = matrices;
        let matrices = [left?, right?, product?];
        let on_device = Buffer::new(&chosen, COPY as u64, Kind::Device)?;
        let on_host = Buffer::new(&chosen, COPY as u64, Kind::Shared)?;
        // SAFETY: each is created from earlier objects of the same device, and its description
        // lives until the call returns. The set names buffers of at least the size that the shader
        // reaches.
        unsafe {
            let words: Vec<u32> = SHADER
                .chunks_exact(4)
                .map(|word| u32::from_ne_bytes([word[0], word[1], word[2], word[3]]))
                .collect();
            let module = vk::ShaderModuleCreateInfo::default().code(&words);
            let shader = device.create_shader_module(&module, None).map_err(ready)?;
            let binding = |number| {
                vk::DescriptorSetLayoutBinding::default()
                    .binding(number)
                    .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                    .descriptor_count(1)
                    .stage_flags(vk::ShaderStageFlags::COMPUTE)
            };
            let all = [binding(0), binding(1), binding(2)];
            let described = vk::DescriptorSetLayoutCreateInfo::default().bindings(&all);
            let bindings = device
                .create_descriptor_set_layout(&described, None)
                .map_err(ready)?;
            let layouts = [bindings];
            let described = vk::PipelineLayoutCreateInfo::default().set_layouts(&layouts);
            let layout = device
                .create_pipeline_layout(&described, None)
                .map_err(ready)?;
            let stage = vk::PipelineShaderStageCreateInfo::default()
                .stage(vk::ShaderStageFlags::COMPUTE)
                .module(shader)
                .name(c"multiply");
            let described = vk::ComputePipelineCreateInfo::default()
                .stage(stage)
                .layout(layout);
            let pipeline = device
                .create_compute_pipelines(vk::PipelineCache::null(), &[described], None)
                .map_err(|(_, error)| ready(error))?[0];
            let sizes = [vk::DescriptorPoolSize::default()
                .ty(vk::DescriptorType::STORAGE_BUFFER)
                .descriptor_count(3)];
            let described = vk::DescriptorPoolCreateInfo::default()
                .max_sets(1)
                .pool_sizes(&sizes);
            let sets = device
                .create_descriptor_pool(&described, None)
                .map_err(ready)?;
            let described = vk::DescriptorSetAllocateInfo::default()
                .descriptor_pool(sets)
                .set_layouts(&layouts);
            let set = device.allocate_descriptor_sets(&described).map_err(ready)?[0];
            for (number, buffer) in (0..).zip(&matrices) {
                let whole = [vk::DescriptorBufferInfo::default()
                    .buffer(buffer.buffer)
                    .range(vk::WHOLE_SIZE)];
                let write = vk::WriteDescriptorSet::default()
                    .dst_set(set)
                    .dst_binding(number)
                    .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                    .buffer_info(&whole);
                device.update_descriptor_sets(&[write], &[]);
            }
            let described = vk::CommandPoolCreateInfo::default()
                .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER)
                .queue_family_index(chosen.family);
            let pool = device
                .create_command_pool(&described, None)
                .map_err(ready)?;
            let described = vk::CommandBufferAllocateInfo::default()
                .command_pool(pool)
                .command_buffer_count(1);
            let commands = device.allocate_command_buffers(&described).map_err(ready)?[0];
            let described = vk::QueryPoolCreateInfo::default()
                .query_type(vk::QueryType::TIMESTAMP)
                .query_count(2);
            let times = device.create_query_pool(&described, None).map_err(ready)?;
            let over = device
                .create_fence(&vk::FenceCreateInfo::default(), None)
                .map_err(ready)?;
            Ok(Self {
                about,
                shader,
                layout,
                bindings,
                pipeline,
                sets,
                set,
                pool,
                commands,
                times,
                over,
                matrices,
                on_device,
                on_host,
                chosen,
            })
        }
    }

    /// Makes the device execute the commands recorded by `record`; returns its working time.
    fn timed(&mut self, record: impl FnOnce(&Self)) -> Result<Duration, GpuError> {
        let ended = failed("the device stopped to work");
        let (device, commands) = (&self.chosen.device, self.commands);
        // SAFETY: the one command buffer is not in use: each batch is waited for.
        unsafe {
            device
                .begin_command_buffer(commands, &vk::CommandBufferBeginInfo::default())
                .map_err(ended)?;
            device.cmd_reset_query_pool(commands, self.times, 0, 2);
            let stage = vk::PipelineStageFlags::ALL_COMMANDS;
            device.cmd_write_timestamp(commands, stage, self.times, 0);
            record(self);
            device.cmd_write_timestamp(commands, stage, self.times, 1);
            device.end_command_buffer(commands).map_err(ended)?;
            let all = [commands];
            let submitted = vk::SubmitInfo::default().command_buffers(&all);
            device.reset_fences(&[self.over]).map_err(ended)?;
            device
                .queue_submit(self.chosen.queue, &[submitted], self.over)
                .map_err(ended)?;
            device
                .wait_for_fences(&[self.over], true, PATIENCE_NS)
                .map_err(ended)?;
            let mut ticks = [0_u64; 2];
            device
                .get_query_pool_results(
                    self.times,
                    0,
                    &mut ticks,
                    vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT,
                )
                .map_err(ended)?;
            Ok(self.chosen.time(ticks[1].wrapping_sub(ticks[0])))
        }
    }

    /// Later commands see the results of earlier ones.
    fn in_order(&self) {
        let all = vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE;
        let barrier = vk::MemoryBarrier::default()
            .src_access_mask(all)
            .dst_access_mask(all);
        let stage = vk::PipelineStageFlags::ALL_COMMANDS;
        // SAFETY: called while the command buffer is recorded.
        unsafe {
            let flags = vk::DependencyFlags::empty();
            let device = &self.chosen.device;
            device.cmd_pipeline_barrier(self.commands, stage, stage, flags, &[barrier], &[], &[]);
        }
    }
}

impl Device for Vulkan {
    fn about(&self) -> &About {
        &self.about
    }

    fn multiply(&mut self, times: u32) -> Result<Duration, GpuError> {
        self.timed(|own| {
            let device = &own.chosen.device;
            let point = vk::PipelineBindPoint::COMPUTE;
            // SAFETY: called while the command buffer is recorded; the set is that of the layout.
            unsafe {
                device.cmd_bind_pipeline(own.commands, point, own.pipeline);
                device.cmd_bind_descriptor_sets(
                    own.commands,
                    point,
                    own.layout,
                    0,
                    &[own.set],
                    &[],
                );
            }
            let groups = matrix::SIZE as u32 / GROUP;
            for _ in 0..times {
                // SAFETY: as above.
                unsafe { device.cmd_dispatch(own.commands, groups, groups, 1) };
                own.in_order();
            }
        })
    }

    fn product(&mut self) -> Result<Vec<f32>, GpuError> {
        self.matrices[2].read(&self.chosen, matrix::ELEMENTS)
    }

    fn copy(&mut self, times: u32) -> Result<Duration, GpuError> {
        self.timed(|own| {
            let whole = [vk::BufferCopy::default().size(COPY as u64)];
            let (there, here) = (own.on_device.buffer, own.on_host.buffer);
            for (from, to) in (0..times).flat_map(|_| [(here, there), (there, here)]) {
                // SAFETY: called while the command buffer is recorded; both buffers are of this size.
                unsafe {
                    let device = &own.chosen.device;
                    device.cmd_copy_buffer(own.commands, from, to, &whole);
                }
                own.in_order();
            }
        })
    }
}

impl Drop for Vulkan {
    fn drop(&mut self) {
        let device = &self.chosen.device;
        // SAFETY: nothing is in use once the device is idle; objects are destroyed in reverse
        // order, before the device itself.
        unsafe {
            let _ = device.device_wait_idle();
            device.destroy_fence(self.over, None);
            device.destroy_query_pool(self.times, None);
            device.destroy_command_pool(self.pool, None);
            device.destroy_descriptor_pool(self.sets, None);
            device.destroy_pipeline(self.pipeline, None);
            device.destroy_pipeline_layout(self.layout, None);
            device.destroy_descriptor_set_layout(self.bindings, None);
            device.destroy_shader_module(self.shader, None);
            for buffer in self.matrices.iter().chain([&self.on_device, &self.on_host]) {
                buffer.free(&self.chosen);
            }
        }
    }
}
