//! Memory of a device as buffers, those that the host can reach among them.

use super::chosen::Chosen;
use super::failed;
use crate::device::Interface;
use crate::error::GpuError;
use ash::vk;

/// Access to the memory.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    /// The device; as near to it as there is.
    Device,
    /// The host too.
    Shared,
}

/// A buffer and its memory. It is given back by [`Buffer::free`].
pub(super) struct Buffer {
    pub(super) buffer: vk::Buffer,
    memory: vk::DeviceMemory,
}

impl Buffer {
    pub(super) fn new(chosen: &Chosen, bytes: u64, kind: Kind) -> Result<Self, GpuError> {
        let had = failed("cannot have memory");
        let device = &chosen.device;
        let described = vk::BufferCreateInfo::default().size(bytes).usage(
            vk::BufferUsageFlags::STORAGE_BUFFER
                | vk::BufferUsageFlags::TRANSFER_SRC
                | vk::BufferUsageFlags::TRANSFER_DST,
        );
        // SAFETY: the description lives until the call returns.
        let buffer = unsafe { device.create_buffer(&described, None) }.map_err(had)?;
        // SAFETY: the buffer is of this device.
        let needs = unsafe { device.get_buffer_memory_requirements(buffer) };
        let wanted = match kind {
            Kind::Device => vk::MemoryPropertyFlags::DEVICE_LOCAL,
            Kind::Shared => {
                vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT
            }
        };
        let types = chosen.memory.memory_types_as_slice();
        let fits = |&(number, of): &(u32, &vk::MemoryType)| {
            needs.memory_type_bits & (1 << number) != 0 && of.property_flags.contains(wanted)
        };
        let found = (0..).zip(types).find(fits).map(|(number, _)| number);
        let memory = found.ok_or(GpuError::Call {
            interface: Interface::Vulkan,
            action: "cannot have memory",
            why: "the device has none of this kind".into(),
        });
        let described = |kind| {
            vk::MemoryAllocateInfo::default()
                .allocation_size(needs.size)
                .memory_type_index(kind)
        };
        let memory = memory.and_then(|kind| {
            // SAFETY: as above.
            unsafe { device.allocate_memory(&described(kind), None) }.map_err(had)
        });
        match memory {
            Ok(memory) => {
                // SAFETY: both are of this device and new.
                unsafe { device.bind_buffer_memory(buffer, memory, 0) }.map_err(had)?;
                Ok(Self { buffer, memory })
            }
            Err(error) => {
                // SAFETY: nothing uses it yet.
                unsafe { device.destroy_buffer(buffer, None) };
                Err(error)
            }
        }
    }

    /// Fills a shared buffer from its start; it must have room for `elements`.
    pub(super) fn write(&self, chosen: &Chosen, elements: &[f32]) -> Result<(), GpuError> {
        let bytes = size_of_val(elements) as u64;
        self.mapped(chosen, bytes, |at| {
            // SAFETY: enough bytes are mapped there, aligned to at least 64.
            unsafe { std::ptr::copy_nonoverlapping(elements.as_ptr(), at, elements.len()) };
        })
    }

    /// The first `count` elements of a shared buffer.
    pub(super) fn read(&self, chosen: &Chosen, count: usize) -> Result<Vec<f32>, GpuError> {
        let mut elements = vec![0.0_f32; count];
        let bytes = size_of_val(&elements[..]) as u64;
        self.mapped(chosen, bytes, |at| {
            // SAFETY: as in `write`.
            unsafe { std::ptr::copy_nonoverlapping(at, elements.as_mut_ptr(), count) };
        })?;
        Ok(elements)
    }

    fn mapped(
        &self,
        chosen: &Chosen,
        bytes: u64,
        used: impl FnOnce(*mut f32),
    ) -> Result<(), GpuError> {
        let device = &chosen.device;
        let flags = vk::MemoryMapFlags::empty();
        // SAFETY: the device is idle between batches, and the mapping ends here.
        unsafe {
            let at = device
                .map_memory(self.memory, 0, bytes, flags)
                .map_err(failed("cannot reach memory"))?;
            used(at.cast());
            device.unmap_memory(self.memory);
        }
        Ok(())
    }

    /// Gives it back.
    ///
    /// # Safety
    /// The device doesn't use it any more, and nobody will.
    pub(super) unsafe fn free(&self, chosen: &Chosen) {
        // SAFETY: the caller's.
        unsafe {
            chosen.device.destroy_buffer(self.buffer, None);
            chosen.device.free_memory(self.memory, None);
        }
    }
}
