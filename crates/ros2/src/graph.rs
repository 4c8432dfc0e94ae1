//! Nodes, topics, timers and services of the processes that were seen to create them. A handle is an
//! address in one process, and can be reused: it names the object last created under it.

use crate::callback::ACTION;
use crate::lifecycle::Uncalled;
use crate::{Callback, Kind, Taken, Words};
use std::collections::BTreeMap;
use std::sync::Arc;
use wakepath_timeline::{Call, KernelEvent};

/// A process, and an address in it.
pub type Handle = (u32, u64);

/// A timer as it was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Timer {
    period_ns: u64,
    made_ns: u64,
    node: Option<Handle>,
}

/// A topic or service at a node.
#[derive(Debug, Clone, PartialEq, Eq)]
struct End {
    node: Handle,
    name: Arc<str>,
    /// Of a subscription: how many messages wait for it at most.
    depth: u64,
}

/// A part of ros2_control's cycle.
#[derive(Debug)]
struct Part {
    part: &'static str,
    /// Name of its controller, or its address if the name is unknown.
    controller: Option<Arc<str>>,
    is_unnamed: bool,
}

/// The objects known by their handles.
#[derive(Debug, Default)]
pub struct Graph {
    nodes: BTreeMap<Handle, Arc<str>>,
    timers: BTreeMap<Handle, Timer>,
    timer_of_callback: BTreeMap<Handle, Handle>,
    subscriptions: BTreeMap<Handle, End>,
    /// By rclcpp's object.
    subscription_of_object: BTreeMap<Handle, Handle>,
    /// rclcpp's object of a callback. Of messages within the process it is linked to its subscription after that.
    object_of_callback: BTreeMap<Handle, Handle>,
    /// By the middleware's handle.
    subscription_of_middleware: BTreeMap<Handle, Handle>,
    services: BTreeMap<Handle, End>,
    /// By the middleware's handle.
    service_of_middleware: BTreeMap<Handle, Handle>,
    service_of_callback: BTreeMap<Handle, Handle>,
    uncalled: Uncalled,
    clients: BTreeMap<Handle, End>,
    /// By the middleware's handle.
    client_of_middleware: BTreeMap<Handle, Handle>,
    publishers: BTreeMap<Handle, End>,
    /// By the middleware's handle.
    publisher_of_middleware: BTreeMap<Handle, Handle>,
    symbols: BTreeMap<Handle, Arc<str>>,
    /// Of a callback, as it was made.
    words: BTreeMap<Handle, Words>,
    /// Names of ros2_control's controllers.
    controllers: BTreeMap<Handle, Arc<str>>,
    /// Parts of ros2_control's cycle.
    parts: BTreeMap<Handle, Part>,
}

impl Graph {
    /// A call that makes or links something; `false` for any other.
    pub fn take(&mut self, process: u32, event: &KernelEvent, call: &Call) -> bool {
        let Call {
            function,
            numbers,
            texts,
        } = call;
        let thread = event.current;
        let handle = |at: usize| numbers.get(at).map(|address| (process, *address));
        let text = |at: usize| texts.get(at).cloned();
        if function.ends_with("_callback_added")
            && let Some(callback) = handle(1)
        {
            self.forget_callback(callback);
            self.words.insert(callback, words(&numbers[2..]));
        }
        let end = |name: Arc<str>| {
            Some(End {
                node: handle(1)?,
                name,
                depth: 0,
            })
        };
        let mut take = || {
            match &**function {
                "rcl_node_init" => {
                    let name = full_name(&text(1)?, &text(0)?);
                    self.nodes.insert(handle(0)?, name);
                }
                "rcl_timer_init" => {
                    let timer = Timer {
                        period_ns: *numbers.get(1)?,
                        made_ns: event.at_ns,
                        node: None,
                    };
                    self.timers.insert(handle(0)?, timer);
                }
                "rclcpp_timer_callback_added" => {
                    self.timer_of_callback.insert(handle(1)?, handle(0)?);
                }
                "rclcpp_timer_link_node" => {
                    self.timers.get_mut(&handle(0)?)?.node = handle(1);
                }
                "rcl_subscription_init" => {
                    let end = End {
                        depth: numbers.get(3).copied().unwrap_or(0),
                        ..end(text(0)?)?
                    };
                    self.subscriptions.insert(handle(0)?, end);
                    let middleware = handle(2)?;
                    self.subscription_of_middleware
                        .insert(middleware, handle(0)?);
                }
                "rclcpp_subscription_init" => {
                    self.subscription_of_object.insert(handle(1)?, handle(0)?);
                }
                "rclcpp_subscription_callback_added" => {
                    self.object_of_callback.insert(handle(1)?, handle(0)?);
                }
                "rcl_service_init" => {
                    self.uncalled.service(thread);
                    self.services.insert(handle(0)?, end(text(0)?)?);
                    let middleware = handle(2).zip(handle(0));
                    self.service_of_middleware.extend(middleware);
                }
                "rcl_client_init" => {
                    self.clients.insert(handle(0)?, end(text(0)?)?);
                    let middleware = handle(2).zip(handle(0));
                    self.client_of_middleware.extend(middleware);
                }
                "rcl_lifecycle_state_machine_init" => {
                    let node = handle(0)?;
                    let own = self.services.iter().filter(|(_, end)| end.node == node);
                    let own = own.map(|(service, _)| *service);
                    self.uncalled.state_machine(thread, handle(1)?, own);
                }
                "rclcpp_service_callback_added" => {
                    if let Some(original) = self.uncalled.take(thread) {
                        let end = self.services.get(&original)?.clone();
                        self.services.insert(handle(0)?, end);
                    }
                    self.service_of_callback.insert(handle(1)?, handle(0)?);
                }
                "rcl_publisher_init" => {
                    self.publishers.insert(handle(0)?, end(text(0)?)?);
                    self.publisher_of_middleware.insert(handle(2)?, handle(0)?);
                }
                "controller_init" => {
                    self.controllers.insert(handle(0)?, text(0)?);
                }
                "rclcpp_callback_register" => {
                    self.symbols.insert(handle(0)?, text(0)?);
                }
                _ => return None,
            }
            Some(())
        };
        take().is_some()
    }

    /// An address that held another kind of callback before.
    fn forget_callback(&mut self, callback: Handle) {
        self.timer_of_callback.remove(&callback);
        self.object_of_callback.remove(&callback);
        self.service_of_callback.remove(&callback);
        self.symbols.remove(&callback);
    }

    /// The part of ros2_control's cycle that begins with a call of this function on this object, under an address of
    /// its own within the object.
    pub fn part(&mut self, function: &str, object: Handle) -> Option<Handle> {
        let (at, part, is_controller) = match function {
            "manager_read" => (0, "read", false),
            "manager_update" => (1, "update", false),
            "manager_write" => (2, "write", false),
            "controller_update" => (0, "update", true),
            _ => return None,
        };
        let handle = (object.0, object.1.wrapping_add(at));
        let name = self.controllers.get(&object).cloned();
        let is_unnamed = is_controller && name.is_none();
        let unnamed = || format!("controller {:#x}", object.1).into();
        let controller = is_controller.then(|| name.unwrap_or_else(unnamed));
        let part = Part {
            part,
            controller,
            is_unnamed,
        };
        self.parts.insert(handle, part);
        Some(handle)
    }

    /// Words in memory with a callback that begins with these numbers.
    pub fn words(&self, callback: Handle, numbers: &[u64]) -> Words {
        let made = self.words.get(&callback).copied();
        Words {
            caller: numbers.get(2).copied().unwrap_or(0),
            ..made.unwrap_or_else(|| words(numbers.get(3..).unwrap_or_default()))
        }
    }

    /// What runs under this address now.
    pub fn callback(&self, callback: Handle) -> Callback {
        if let Some(of) = self.parts.get(&callback) {
            return Callback {
                process: callback.0,
                handle: callback.1,
                node: of.controller.as_ref().map(ToString::to_string),
                kind: Kind::Control {
                    part: of.part.into(),
                    is_unnamed: of.is_unnamed,
                },
                symbol: None,
            };
        }
        let (node, kind) = if let Some(timer) = self.timer_of_callback.get(&callback) {
            match self.timers.get(timer) {
                Some(timer) => (
                    timer.node,
                    Kind::Timer {
                        period_ns: timer.period_ns,
                        made_ns: timer.made_ns,
                    },
                ),
                None => (None, Kind::Unknown),
            }
        } else if let Some(of) = self.object_of_callback.get(&callback) {
            let of = self.subscription_of_object.get(of);
            let of = of.and_then(|of| self.subscriptions.get(of));
            let depth = of.map_or(0, |of| of.depth);
            ended(of, |topic| Kind::Subscription { topic, depth })
        } else if let Some(of) = self.service_of_callback.get(&callback) {
            ended(self.services.get(of), |service| Kind::Service { service })
        } else {
            (None, Kind::Unknown)
        };
        Callback {
            process: callback.0,
            handle: callback.1,
            node: node
                .and_then(|node| self.nodes.get(&node))
                .map(ToString::to_string),
            kind,
            symbol: self.symbols.get(&callback).map(ToString::to_string),
        }
    }

    /// The work that is taken with this handle, of rcl or, for messages, of the middleware, if no callback is called with it.
    pub fn handled(&self, taken: Taken, handle: Handle) -> Option<Callback> {
        let end = match taken {
            Taken::Request => {
                let of = self.services.get(&handle);
                of.filter(|of| of.name.contains(ACTION))
            }
            Taken::Answer => self.clients.get(&handle),
            Taken::Message => {
                let of = self.subscription_of_middleware.get(&handle)?;
                let of = self.subscriptions.get(of);
                of.filter(|of| of.name.contains(ACTION))
            }
        }?;
        Some(Callback {
            process: handle.0,
            handle: handle.1,
            node: self.nodes.get(&end.node).map(ToString::to_string),
            kind: Kind::Handled {
                taken,
                name: end.name.to_string(),
            },
            symbol: None,
        })
    }

    /// The service or client, as `taken` asks, with this handle of the middleware.
    pub fn end(&self, taken: Taken, middleware: Handle) -> Option<Handle> {
        let of = match taken {
            Taken::Request => &self.service_of_middleware,
            Taken::Answer => &self.client_of_middleware,
            Taken::Message => &self.subscription_of_middleware,
        };
        of.get(&middleware).copied()
    }

    /// Whether a client or the server of an action was seen being made.
    pub fn has_unmarked(&self) -> bool {
        let is_action = |of: &End| of.name.contains(ACTION);
        !self.clients.is_empty() || self.services.values().any(is_action)
    }

    /// The topic that is taken from by this handle of the middleware.
    pub fn taken_topic(&self, middleware: Handle) -> Option<Arc<str>> {
        let subscription = self.subscription_of_middleware.get(&middleware)?;
        Some(Arc::clone(&self.subscriptions.get(subscription)?.name))
    }

    /// The publisher with this handle of the middleware.
    pub fn publisher(&self, middleware: Handle) -> Option<Handle> {
        self.publisher_of_middleware.get(&middleware).copied()
    }

    /// The topic that a publisher publishes to.
    pub fn published_topic(&self, publisher: Handle) -> Option<Arc<str>> {
        Some(Arc::clone(&self.publishers.get(&publisher)?.name))
    }
}

/// The words of a callable.
fn words(recorded: &[u64]) -> Words {
    let word = |at: usize| recorded.get(at).copied().unwrap_or(0);
    Words {
        caller: 0,
        first: word(0),
        pointed: word(1),
        invoker: word(2),
    }
}

fn ended(end: Option<&End>, kind: impl FnOnce(String) -> Kind) -> (Option<Handle>, Kind) {
    match end {
        None => (None, Kind::Unknown),
        Some(end) => (Some(end.node), kind(end.name.to_string())),
    }
}

/// `/arm/driver`, and `driver` where the namespace is the root.
fn full_name(namespace: &str, name: &str) -> Arc<str> {
    match namespace.trim_end_matches('/') {
        "" => name.into(),
        namespace => format!("{namespace}/{name}").into(),
    }
}
