// A controller of 100 Hz that replans once in a second, in the same executor: each time it is 30 ms late.
// `wakepath watch -- ./overrun` shows which callback held it; with `./overrun fixed` replanning has an executor and a
// thread of its own.

#include <rclcpp/rclcpp.hpp>

#include <chrono>
#include <string>
#include <thread>

using namespace std::chrono_literals;

int main(int argc, char **argv) {
    rclcpp::init(argc, argv);
    const bool fixed = argc > 1 && std::string(argv[1]) == "fixed";
    const auto node = std::make_shared<rclcpp::Node>("attitude_controller");
    double angle = 0.5;
    const auto control = node->create_wall_timer(10ms, [&angle] { angle *= 0.99; });

    const auto group = node->create_callback_group(rclcpp::CallbackGroupType::MutuallyExclusive, false);
    const auto replan = node->create_wall_timer(1s, [] { std::this_thread::sleep_for(30ms); }, group);

    rclcpp::executors::SingleThreadedExecutor controlling;
    controlling.add_node(node);
    rclcpp::executors::SingleThreadedExecutor planning;
    auto &executor = fixed ? planning : controlling;
    executor.add_callback_group(group, node->get_node_base_interface());
    std::thread other([&] {
        if (fixed) {
            planning.spin();
        }
    });
    controlling.spin();
    other.join();
}
