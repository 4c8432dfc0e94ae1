//! The functions of libtracetools that are recorded, with their arguments as `tracetools/tracetools.h` declares them
//! (Humble to Rolling; a function that a version lacks is not recorded).

/// What the exported functions' names begin with.
pub const PREFIX: &str = "ros_trace_";

/// A function, by its name without the prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Function {
    /// Its name: `callback_start`.
    pub name: &'static str,
    /// The arguments that are recorded.
    pub arguments: &'static [Argument],
}

/// An argument, by its position from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Argument {
    /// A handle or a whole number.
    Number(u8),
    /// A `bool`.
    Flag(u8),
    /// A text.
    Text(u8),
}

/// All of them.
pub const FUNCTIONS: &[Function] = {
    use Argument::{Flag, Number, Text};
    const fn of(name: &'static str, arguments: &'static [Argument]) -> Function {
        Function { name, arguments }
    }
    &[
        of("rcl_node_init", &[Number(0), Text(2), Text(3)]),
        of("rcl_timer_init", &[Number(0), Number(1)]),
        of("rclcpp_timer_callback_added", &[Number(0), Number(1)]),
        of("rclcpp_timer_link_node", &[Number(0), Number(1)]),
        of(
            "rcl_subscription_init",
            &[Number(0), Number(1), Number(2), Text(3)],
        ),
        of("rclcpp_subscription_init", &[Number(0), Number(1)]),
        of(
            "rclcpp_subscription_callback_added",
            &[Number(0), Number(1)],
        ),
        of("rcl_service_init", &[Number(0), Number(1), Text(3)]),
        of("rclcpp_service_callback_added", &[Number(0), Number(1)]),
        of(
            "rcl_publisher_init",
            &[Number(0), Number(1), Number(2), Text(3)],
        ),
        of("rclcpp_callback_register", &[Number(0), Text(1)]),
        of("callback_start", &[Number(0), Flag(1)]),
        of("callback_end", &[Number(0)]),
        of("rmw_publish", &[Number(0), Number(2)]),
        of("rmw_take", &[Number(0), Number(2), Flag(3)]),
    ]
};
