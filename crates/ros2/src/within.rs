//! Messages that stay within their process: rclcpp hands them from publisher to subscription in ring buffers, and no
//! middleware dates them.

use crate::graph::Handle;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A message that a thread published last.
#[derive(Debug, Clone)]
struct Publishing {
    publisher: Handle,
    topic: Arc<str>,
    number: i64,
    /// Its place among all messages.
    at: usize,
}

/// The messages in ring buffers.
#[derive(Debug, Default)]
pub(crate) struct Within {
    count: i64,
    publishing: BTreeMap<u32, Publishing>,
    /// By buffer, and place in it.
    waiting: BTreeMap<Handle, BTreeMap<u64, (Arc<str>, i64)>>,
    /// That a newer one took the place of.
    pub(crate) overwritten: BTreeSet<i64>,
}

impl Within {
    /// A thread publishes, as the message `at` of all: its number.
    pub(crate) fn publish(
        &mut self,
        thread: u32,
        publisher: Handle,
        topic: Arc<str>,
        at: usize,
    ) -> i64 {
        self.count -= 1;
        let number = self.count;
        let publishing = Publishing {
            publisher,
            topic,
            number,
            at,
        };
        self.publishing.insert(thread, publishing);
        number
    }

    /// The message that a thread is publishing, now handed to the middleware too.
    pub(crate) fn also(&self, thread: u32, publisher: Handle) -> Option<usize> {
        let of = self.publishing.get(&thread)?;
        (of.publisher == publisher).then_some(of.at)
    }

    /// A thread puts what it is publishing into a place of a buffer, which was full or not.
    pub(crate) fn put(&mut self, thread: u32, buffer: Handle, place: u64, is_full: bool) {
        let places = self.waiting.entry(buffer).or_default();
        let before = match self.publishing.get(&thread) {
            Some(of) => places.insert(place, (Arc::clone(&of.topic), of.number)),
            None => places.remove(&place),
        };
        if let Some((_, number)) = before.filter(|_| is_full) {
            self.overwritten.insert(number);
        }
    }

    /// Events are missing: the contents of the buffers are unknown.
    pub(crate) fn loses(&mut self) {
        self.publishing.clear();
        self.waiting.clear();
    }

    /// The message taken from a place of a buffer.
    pub(crate) fn take(&mut self, buffer: Handle, place: u64) -> Option<(Arc<str>, i64)> {
        self.waiting.get_mut(&buffer)?.remove(&place)
    }
}
