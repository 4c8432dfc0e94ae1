// A node with a timer of 10 ms, and one of 250 ms that sleeps for 30; it runs for two seconds, at a real-time priority
// so that nothing but the sleeps makes it late on a busy machine.
#include <rclcpp/rclcpp.hpp>

#include <chrono>
#include <cstdio>
#include <sched.h>
#include <thread>

using namespace std::chrono_literals;

int main(int argc, char **argv) {
    const sched_param priority{10};
    sched_setscheduler(0, SCHED_FIFO, &priority);
    rclcpp::init(argc, argv);
    const auto node = std::make_shared<rclcpp::Node>("pilot");
    long runs = 0;
    const auto control = node->create_wall_timer(10ms, [&runs] { runs++; });
    const auto slow = node->create_wall_timer(250ms, [] { std::this_thread::sleep_for(30ms); });
    const auto end = node->create_wall_timer(2s, [] { rclcpp::shutdown(); });
    rclcpp::spin(node);
    std::fprintf(stderr, "runs %ld\n", runs);
}
