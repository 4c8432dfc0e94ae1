// A node whose timer is a control loop of 250 Hz; recorded by `wakepath record -- ./ros2_timer`. The executor's clock
// begins the cycles, and when they were due is estimated.

#include <rclcpp/rclcpp.hpp>

#include <wakepath_ros2.hpp>

#include <iostream>

using namespace std::chrono_literals;

int main(int argc, char **argv) {
    rclcpp::init(argc, argv);
    wakepath::prepare(wakepath::Other{});
    const auto node = std::make_shared<rclcpp::Node>("attitude");
    double angle = 0.5;
    const wakepath::ros2::TimerLoop loop("attitude", 4ms);
    const auto step = [&angle] { angle *= 0.99; };
    const auto timer = node->create_wall_timer(4ms, loop.callback(step, [] { rclcpp::shutdown(); }));
    rclcpp::executors::SingleThreadedExecutor executor;
    executor.add_node(node);
    executor.spin();
    std::cout << loop.elsewhere() << " calls on other threads\n";
}
