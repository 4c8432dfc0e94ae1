// The loop of ros2_control's own node, 250 Hz or what its parameters say, recorded by
// `wakepath record -- ./ros2_control_node`: read, update and write are sections, and so is each controller that is a
// wakepath::ros2::TimedController.

#include <controller_manager/controller_manager.hpp>
#include <rclcpp/rclcpp.hpp>

#include <wakepath_ros2.hpp>

#include <algorithm>
#include <iostream>
#include <string>
#include <thread>

int main(int argc, char **argv) {
    rclcpp::init(argc, argv);
    const auto executor = std::make_shared<rclcpp::executors::MultiThreadedExecutor>();
    // Controllers get their parameters from the arguments of the manager's options.
    auto options = controller_manager::get_cm_node_options();
    auto arguments = options.arguments();
    const auto ros_arguments = std::find(argv, argv + argc, std::string("--ros-args"));
    arguments.insert(arguments.end(), ros_arguments, argv + argc);
    options.arguments(arguments);
    const auto manager =
        std::make_shared<controller_manager::ControllerManager>(executor, "controller_manager", "", options);
    executor->add_node(manager);

    // The loop has a thread of its own; services and parameters stay with the executor's.
    std::thread control([&] {
        const std::string shortfalls = wakepath::prepare(wakepath::Other{});
        if (!shortfalls.empty()) {
            std::cerr << shortfalls << '\n';
        }
        const auto period = std::chrono::nanoseconds(1'000'000'000 / manager->get_update_rate());
        wakepath::ros2::ControlLoop loop("controller_manager", manager->get_update_rate());
        auto due = std::chrono::steady_clock::now() + period;
        for (;;) {
            std::this_thread::sleep_until(due);
            // The clock of this sleep knows when the cycle was due, and so does the recording.
            if (!rclcpp::ok() ||
                !loop.step(*manager, manager->now(), rclcpp::Duration(period), due.time_since_epoch())) {
                break;
            }
            const auto now = std::chrono::steady_clock::now();
            do {
                due += period;
            } while (due <= now);
        }
        rclcpp::shutdown();
    });
    executor->spin();
    control.join();
}
