// A chain from a camera to a motor over two topics, in an executor whose callbacks are carried out by a loop of
// 200 Hz; recorded by `wakepath record -- ./ros2_chain`. Each callback is a section. The stamp that the camera gives is
// passed along, and where the chain ends, what has passed since is a value of the cycle.

#include <rclcpp/rclcpp.hpp>
#include <std_msgs/msg/header.hpp>

#include <wakepath_ros2.hpp>

using namespace std::chrono_literals;
using std_msgs::msg::Header;

class Chain : public rclcpp::Node {
public:
    explicit Chain(wakepath::Loop &loop) : rclcpp::Node("chain") {
        image_ = create_publisher<Header>("image", 1);
        pose_ = create_publisher<Header>("pose", 1);
        detect_ = create_subscription<Header>("image", 1, wakepath::ros2::timed("detect", [this](const Header &image) {
            Header pose;
            pose.stamp = image.stamp;  // the chain's identity, unchanged
            pose_->publish(pose);
        }));
        drive_ = create_subscription<Header>("pose", 1, wakepath::ros2::timed("drive", [this, &loop](const Header &pose) {
            wakepath::ros2::chain_ends(loop, "camera to motor <= 20000", pose.stamp, now().nanoseconds());
        }));
        camera_ = create_wall_timer(20ms, wakepath::ros2::timed("camera", [this] {
            const auto now_ns = now().nanoseconds();
            Header image;
            image.stamp.sec = static_cast<std::int32_t>(now_ns / 1'000'000'000);
            image.stamp.nanosec = static_cast<std::uint32_t>(now_ns % 1'000'000'000);
            image_->publish(image);
        }));
    }

private:
    rclcpp::Publisher<Header>::SharedPtr image_;
    rclcpp::Publisher<Header>::SharedPtr pose_;
    rclcpp::Subscription<Header>::SharedPtr detect_;
    rclcpp::Subscription<Header>::SharedPtr drive_;
    std::shared_ptr<rclcpp::TimerBase> camera_;
};

int main(int argc, char **argv) {
    rclcpp::init(argc, argv);
    wakepath::prepare(wakepath::Other{});
    wakepath::Loop loop("executor", 5ms);
    rclcpp::executors::SingleThreadedExecutor executor;
    const auto chain = std::make_shared<Chain>(loop);  // an executor keeps no node alive
    executor.add_node(chain);
    wakepath::ros2::spin(loop, executor, [] { return rclcpp::ok(); });
    rclcpp::shutdown();
}
