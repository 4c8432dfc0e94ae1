//! Calls to LITMUS^RT: its control page, a task's parameters, the wait for a job, the policy.

#![allow(unsafe_code)] // None of these has a wrapper in libc or rustix.

use super::abi::{Arguments, ControlPage, PAGE, Request, Task, Way};
use rustix::fd::{AsFd, AsRawFd};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::io;

/// The way to send requests here; `None` if neither is answered.
pub(super) fn way(control: impl AsFd) -> Option<Way> {
    let device = control.as_fd().as_raw_fd();
    // SAFETY: with argument 0 this request reads and writes nothing.
    let heard = unsafe { libc::ioctl(device, Request::Null.of_the_device() as _, 0) };
    if heard == 0 {
        return Some(Way::Requests);
    }
    if !cfg!(target_arch = "x86_64") {
        return None;
    }
    // SAFETY: as above; a kernel without this call returns ENOSYS. Callers have checked for
    // LITMUS^RT, and none of the kernels it is based on gave this number to another call.
    let heard = unsafe { libc::syscall(Request::Null.of_the_calls(), 0) };
    (heard == 0).then_some(Way::SystemCalls)
}

/// Sets or reads a thread's parameters.
pub(super) fn task(
    way: Way,
    control: impl AsFd,
    request: Request,
    thread: i32,
    task: &mut Task,
) -> io::Result<()> {
    let mut arguments = Arguments {
        thread,
        padding: 0,
        task: &raw mut *task,
        rest: [0; 6],
    };
    // SAFETY: the kernel reads no more than `arguments`, and reads or writes one `rt_task` at their
    // address.
    let result = unsafe {
        match way {
            Way::Requests => {
                let device = control.as_fd().as_raw_fd();
                let number = request.of_the_device();
                libc::ioctl(device, number as _, &raw mut arguments).into()
            }
            Way::SystemCalls => {
                let number = request.of_the_calls();
                libc::syscall(number, libc::c_long::from(thread), arguments.task)
            }
        }
    };
    answer(result)
}

/// Sleeps until the calling thread's job of this number has been released.
#[inline]
pub(super) fn wait_for_job(way: Way, control: impl AsFd, job: u32) -> io::Result<()> {
    let job = libc::c_ulong::from(job);
    // SAFETY: the argument is a number, and the kernel touches no memory of this process.
    let result = unsafe {
        match way {
            Way::Requests => {
                let number = Request::WaitForJob.of_the_device();
                libc::ioctl(control.as_fd().as_raw_fd(), number as _, job).into()
            }
            Way::SystemCalls => libc::syscall(Request::WaitForJob.of_the_calls(), job),
        }
    };
    answer(result)
}

/// Sets the calling thread's policy, to one without a priority.
pub(super) fn set_policy(number: i32) -> io::Result<()> {
    // SAFETY: a zeroed sched_param is a value, and the kernel only reads it.
    let result = unsafe {
        let none: libc::sched_param = std::mem::zeroed();
        libc::syscall(libc::SYS_sched_setscheduler, 0, number, &raw const none)
    };
    answer(result)
}

/// The number of the calling thread's policy.
pub(super) fn policy() -> i32 {
    // SAFETY: a call without memory of this process.
    unsafe { libc::syscall(libc::SYS_sched_getscheduler, 0) as i32 }
}

fn answer(result: libc::c_long) -> io::Result<()> {
    match result {
        0.. => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The calling thread's control page.
#[derive(Debug)]
pub(super) struct Page(*mut ControlPage);

// SAFETY: the page is only read, by volatile loads of whole words, and stays mapped as long as this
// lives.
unsafe impl Send for Page {}
// SAFETY: as above; nothing here writes to it.
unsafe impl Sync for Page {}

impl Page {
    pub(super) fn map(control: impl AsFd) -> io::Result<Self> {
        let (rights, kind) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
        // SAFETY: the kernel chooses the place; nothing else is there.
        let page = unsafe { mmap(std::ptr::null_mut(), PAGE, rights, kind, control, 0)? };
        Ok(Self(page.cast()))
    }

    /// Release of the thread's job, in nanoseconds on `CLOCK_MONOTONIC`, and its number.
    #[inline]
    pub(super) fn job(&self) -> (u64, u32) {
        // SAFETY: the page is mapped and longer than the structure; the kernel writes it only while
        // this thread is in a call.
        unsafe {
            let release = (&raw const (*self.0).release).read_volatile();
            let job = (&raw const (*self.0).job).read_volatile();
            (release, job as u32)
        }
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        // SAFETY: mapped by `map`, and nobody has a reference into it.
        let _ = unsafe { munmap(self.0.cast(), PAGE) };
    }
}
