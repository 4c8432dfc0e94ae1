// A node whose control loop reports its latency to diagnostic_updater once in a second; recorded by
// `wakepath record -- ./ros2_diagnostics`, and the same without a recording.

#include <diagnostic_updater/diagnostic_updater.hpp>
#include <rclcpp/rclcpp.hpp>

#include <wakepath_ros2.hpp>

using namespace std::chrono_literals;

int main(int argc, char **argv) {
    rclcpp::init(argc, argv);
    wakepath::prepare(wakepath::Other{});
    const auto node = std::make_shared<rclcpp::Node>("attitude");
    double angle = 0.5;
    const wakepath::ros2::TimerLoop loop("attitude", 4ms);
    const auto step = [&angle] { angle *= 0.99; };
    const auto timer = node->create_wall_timer(4ms, loop.callback(step, [] { rclcpp::shutdown(); }));
    diagnostic_updater::Updater updater(node);
    updater.setHardwareID("none");
    updater.add("attitude", loop.figures().diagnostics(500us));
    rclcpp::executors::SingleThreadedExecutor executor;
    executor.add_node(node);
    executor.spin();
    updater.force_update();
}
