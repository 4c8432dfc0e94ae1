//! The functions of libtracetools that are recorded, with their arguments as `tracetools/tracetools.h` declares them
//! (Humble to Rolling; a function that a version lacks is not recorded).

/// Prefix of the exported functions' names.
pub const PREFIX: &str = "ros_trace_";

/// A callback begins: only an executor's thread calls this.
pub const BEGINS: &str = "callback_start";

/// A function, by its name without the prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Function {
    /// Its name: `callback_start`.
    pub name: &'static str,
    /// The arguments that are recorded.
    pub arguments: &'static [Argument],
}

/// An argument, by its position from 0 and the name of its field in LTTng's event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Argument {
    /// A handle or a whole number.
    Number(u8, &'static str),
    /// A `bool`.
    Flag(u8, &'static str),
    /// A text.
    Text(u8, &'static str),
    /// A `std::string`.
    StdText(u8),
    /// The function's return value; then it has no other argument.
    Result,
    /// The address to which the function returns.
    Caller,
    /// The word so many bytes after an address.
    Word(u8, u8),
    /// The word at the address that is at an address.
    Pointed(u8),
    /// A text, by the place of its address so many bytes after an address.
    TextAt(u8, u8),
}

/// An executor's thread begins to wait for work. It comes once for each cycle of an executor, so it is read where
/// another tool recorded it, and `watch` doesn't record it.
pub const WAITS: Function = Function {
    name: "rclcpp_executor_wait_for_work",
    arguments: &[],
};

/// What tracetools 8.5 and newer (Kilted) record of taken requests and answers. `watch` doesn't record them, because
/// [`RCL_FUNCTIONS`] show the same in every version.
pub const TAKES: &[Function] = &[
    Function {
        name: "rmw_take_request",
        arguments: &[
            Argument::Number(0, "rmw_service_handle"),
            Argument::Flag(4, "taken"),
        ],
    },
    Function {
        name: "rmw_take_response",
        arguments: &[
            Argument::Number(0, "rmw_client_handle"),
            Argument::Flag(4, "taken"),
        ],
    },
];

/// Prefix of the names of rcl's own functions.
pub const RCL_PREFIX: &str = "rcl_";
/// The library that has them.
pub const RCL_LIBRARY: &str = "librcl.so";

/// After the name of a function of rcl: its return.
pub const RETURNS: &str = "_returns";

/// Functions of rcl that take what no callback of rclcpp marks: requests to actions, and answers. Whether there was one
/// is in their result: the answers to one client wake the others of its service too.
pub const RCL_FUNCTIONS: &[Function] = &[
    Function {
        name: "take_request_with_info",
        arguments: &[Argument::Number(0, "service_handle")],
    },
    Function {
        name: "take_request_with_info_returns",
        arguments: &[Argument::Result],
    },
    Function {
        name: "take_response_with_info",
        arguments: &[Argument::Number(0, "client_handle")],
    },
    Function {
        name: "take_response_with_info_returns",
        arguments: &[Argument::Result],
    },
];

/// A function in C++ of ros2_control, by how its mangled name begins after `_ZN` and ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Method {
    /// `18controller_manager17ControllerManager4read`.
    pub begins: &'static str,
    /// `8DurationE`.
    pub ends: &'static str,
    /// As a call of it is recorded.
    pub function: Function,
}

/// Prefix of the mangled names.
pub const MANGLED: &str = "_ZN";
/// The library with the manager's loop.
pub const MANAGER_LIBRARY: &str = "libcontroller_manager.so";
/// The library with what all controllers have.
pub const CONTROLLER_LIBRARY: &str = "libcontroller_interface.so";
/// How the name of a controller's update continues after its class.
pub const UPDATE: (&str, &str) = ("6updateERKN6rclcpp4TimeERKN", "8DurationE");

const THIS: Argument = Argument::Number(0, "this");

/// The parts of a manager's cycle.
pub const MANAGER: &[Method] = &[
    manager(
        "18controller_manager17ControllerManager4readE",
        "manager_read",
    ),
    manager(
        "18controller_manager17ControllerManager6updateE",
        "manager_update",
    ),
    manager(
        "18controller_manager17ControllerManager5writeE",
        "manager_write",
    ),
];

/// Of [`CONTROLLER_LIBRARY`]: the controller gets its name.
pub const NAMED: Method = Method {
    begins: "20controller_interface23ControllerInterfaceBase4initE",
    ends: "",
    function: Function {
        name: "controller_init",
        arguments: &[THIS, Argument::StdText(1)],
    },
};

/// A controller's update.
pub const CONTROLLER_UPDATE: Function = Function {
    name: "controller_update",
    arguments: &[THIS],
};

const fn manager(begins: &'static str, name: &'static str) -> Method {
    Method {
        begins,
        ends: "8DurationE",
        function: Function {
            name,
            arguments: &[THIS],
        },
    }
}

/// In a `rmw_publisher_t` and a `rmw_subscription_t`, the address of their topic (`rmw/types.h`, Humble to Rolling).
const TOPIC: u8 = 16;

/// Those that are recorded with more of memory if the process ran before: its objects were made unseen.
pub const LATER: &[Function] = {
    use Argument::{Caller, Flag, Number, Pointed, TextAt, Word};
    &[
        Function {
            name: BEGINS,
            arguments: &[
                Number(0, "callback"),
                Flag(1, "is_intra_process"),
                Caller,
                Word(0, 0),
                Pointed(0),
                Word(0, 24),
            ],
        },
        Function {
            name: "rmw_publish",
            arguments: &[
                Number(0, "rmw_publisher_handle"),
                Number(2, "timestamp"),
                TextAt(0, TOPIC),
            ],
        },
        Function {
            name: "rmw_take",
            arguments: &[
                Number(0, "rmw_subscription_handle"),
                Number(2, "source_timestamp"),
                Flag(3, "taken"),
                TextAt(0, TOPIC),
            ],
        },
    ]
};

/// Those of libtracetools that `watch` records.
pub const FUNCTIONS: &[Function] = {
    use Argument::{Caller, Flag, Number, Pointed, Text, Word};
    const fn of(name: &'static str, arguments: &'static [Argument]) -> Function {
        Function { name, arguments }
    }
    const CALLBACK: Argument = Number(0, "callback");
    const ADDED: Argument = Number(1, "callback");
    const NODE: Argument = Number(1, "node_handle");
    &[
        of(
            "rcl_node_init",
            &[
                Number(0, "node_handle"),
                Text(2, "node_name"),
                Text(3, "namespace"),
            ],
        ),
        of(
            "rcl_timer_init",
            &[Number(0, "timer_handle"), Number(1, "period")],
        ),
        of(
            "rclcpp_timer_callback_added",
            &[
                Number(0, "timer_handle"),
                ADDED,
                Word(1, 0),
                Pointed(1),
                Word(1, 24),
            ],
        ),
        of("rclcpp_timer_link_node", &[Number(0, "timer_handle"), NODE]),
        of(
            "rcl_subscription_init",
            &[
                Number(0, "subscription_handle"),
                NODE,
                Number(2, "rmw_subscription_handle"),
                Number(4, "queue_depth"),
                Text(3, "topic_name"),
            ],
        ),
        of(
            "rclcpp_subscription_init",
            &[Number(0, "subscription_handle"), Number(1, "subscription")],
        ),
        of(
            "rclcpp_subscription_callback_added",
            &[
                Number(0, "subscription"),
                ADDED,
                Word(1, 0),
                Pointed(1),
                Word(1, 24),
            ],
        ),
        of(
            "rcl_service_init",
            &[
                Number(0, "service_handle"),
                NODE,
                Number(2, "rmw_service_handle"),
                Text(3, "service_name"),
            ],
        ),
        of(
            "rcl_client_init",
            &[
                Number(0, "client_handle"),
                NODE,
                Number(2, "rmw_client_handle"),
                Text(3, "service_name"),
            ],
        ),
        of(
            "rclcpp_service_callback_added",
            &[
                Number(0, "service_handle"),
                ADDED,
                Word(1, 0),
                Pointed(1),
                Word(1, 24),
            ],
        ),
        of(
            "rcl_lifecycle_state_machine_init",
            &[Number(0, "node_handle"), Number(1, "state_machine")],
        ),
        of(
            "rcl_publisher_init",
            &[
                Number(0, "publisher_handle"),
                NODE,
                Number(2, "rmw_publisher_handle"),
                Text(3, "topic_name"),
            ],
        ),
        of("rclcpp_callback_register", &[CALLBACK, Text(1, "symbol")]),
        of(BEGINS, &[CALLBACK, Flag(1, "is_intra_process"), Caller]),
        of("callback_end", &[CALLBACK]),
        of("rclcpp_intra_publish", &[Number(0, "publisher_handle")]),
        of(
            "rclcpp_ring_buffer_enqueue",
            &[
                Number(0, "buffer"),
                Number(1, "index"),
                Flag(3, "overwritten"),
            ],
        ),
        of(
            "rclcpp_ring_buffer_dequeue",
            &[Number(0, "buffer"), Number(1, "index")],
        ),
        of(
            "rmw_publish",
            &[Number(0, "rmw_publisher_handle"), Number(2, "timestamp")],
        ),
        of(
            "rmw_take",
            &[
                Number(0, "rmw_subscription_handle"),
                Number(2, "source_timestamp"),
                Flag(3, "taken"),
            ],
        ),
    ]
};
