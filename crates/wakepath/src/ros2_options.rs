//! Options of the command line about callbacks of ROS 2.

use wakepath_assess::watched::Ros2Wish;
use wakepath_ros2::Chain;

/// A text that is no chain.
#[derive(Debug, thiserror::Error)]
#[error("--chain {0}: expected FROM:TO, such as /image:/motor: a topic, and a topic or node")]
pub struct NoChain(String);

/// The chains of these texts, with the limits of their latency and of a subscription's, and the number of late runs to
/// explain for each callback.
pub fn request(
    chains: &[String],
    (limit_ns, latency_ns): (Option<u64>, Option<u64>),
    worst: usize,
) -> Result<Ros2Wish, NoChain> {
    let chain = |text: &String| {
        let chain = text.parse::<Chain>();
        chain.map_err(|_| NoChain(wakepath_timeline::one_line(text)))
    };
    Ok(Ros2Wish {
        chains: chains.iter().map(chain).collect::<Result<_, _>>()?,
        limit_ns,
        worst,
        above_ns: None,
        latency_ns,
    })
}
