//! Callbacks of ROS 2 by node, topic and timer: their execution, their due times, the delays of their
//! executor, and the chains that lead from topic to topic. All of it is derived from the calls that rclcpp,
//! rcl and the middleware make of libtracetools, the library whose functions mark events
//! (<https://github.com/ros2/ros2_tracing>). Pure; the source of the calls is unknown here.

mod account;
mod callback;
mod chain;
mod due;
mod executing;
mod executor;
mod expiry;
mod function;
mod graph;
mod late;
mod lifecycle;
mod live;
mod meanwhile;
mod on_cpu;
mod recorder;
mod row;
mod timer_tasks;
mod within;
mod words;

pub use account::{Account, Accounts, During, Wait, Waited, Window};
pub use callback::{Callback, Kind, Run, Taken};
pub use chain::{Chain, ChainError, ChainFound, Hop, LateEnd, Lost, LostBy};
use due::due_cycles;
pub use executor::{Executor, ExecutorKind, ExecutorThread, Executors, Stretch};
pub use function::{
    Argument, BEGINS, CONTROLLER_LIBRARY, CONTROLLER_UPDATE, FUNCTIONS, Function, LATER, MANAGER,
    MANAGER_LIBRARY, MANGLED, Method, NAMED, PREFIX, RCL_FUNCTIONS, RCL_LIBRARY, RCL_PREFIX,
    RETURNS, TAKES, UPDATE, WAITS,
};
pub use graph::Graph;
pub use late::{Holder, Late, Unheld, first_above};
pub use live::Live;
pub use recorder::{Published, Recorder, Seen};
pub use row::{Figures, Row, rows};
pub use timer_tasks::{DueBy, TimerTask, TimerTasks};
pub use words::{Begun, FunctionOf, Words};
