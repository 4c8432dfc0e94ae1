// A stub of rclcpp: one process, one thread, topics as queues within it.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace rclcpp {

class Time {
public:
    explicit Time(std::int64_t ns = 0) : ns_(ns) {}
    std::int64_t nanoseconds() const { return ns_; }

private:
    std::int64_t ns_;
};

class Duration {
public:
    explicit Duration(std::chrono::nanoseconds time) : time_(time) {}
    std::int64_t nanoseconds() const { return time_.count(); }

private:
    std::chrono::nanoseconds time_;
};

inline bool &running() {
    static bool value = true;
    return value;
}
inline void init(int, char **) {}
inline bool ok() { return running(); }
inline void shutdown() { running() = false; }

class TimerBase {
public:
    TimerBase(std::chrono::nanoseconds period, std::function<void()> callback)
        : period(period), due(std::chrono::steady_clock::now() + period), callback(std::move(callback)) {}
    std::chrono::nanoseconds period;
    std::chrono::steady_clock::time_point due;
    std::function<void()> callback;
};

/// What waits to be delivered, in the order in which it was published.
inline std::deque<std::function<void()>> &waiting() {
    static std::deque<std::function<void()>> queue;
    return queue;
}

template <typename Message>
struct Topic {
    std::vector<std::function<void(const Message &)>> subscribers;
    static std::shared_ptr<Topic> of(const std::string &name) {
        static std::map<std::string, std::shared_ptr<Topic>> topics;
        auto &topic = topics[name];
        if (!topic) {
            topic = std::make_shared<Topic>();
        }
        return topic;
    }
};

template <typename Message>
class Publisher {
public:
    using SharedPtr = std::shared_ptr<Publisher>;
    explicit Publisher(const std::string &name) : topic_(Topic<Message>::of(name)) {}
    void publish(const Message &message) {
        for (const auto &subscriber : topic_->subscribers) {
            waiting().push_back([subscriber, message] { subscriber(message); });
        }
    }

private:
    std::shared_ptr<Topic<Message>> topic_;
};

template <typename Message>
class Subscription {
public:
    using SharedPtr = std::shared_ptr<Subscription>;
};

class Node {
public:
    explicit Node(std::string name) : name_(std::move(name)) {}
    virtual ~Node() = default;
    const char *get_name() const { return name_.c_str(); }
    Time now() const {
        return Time(std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count());
    }
    template <typename Callback>
    std::shared_ptr<TimerBase> create_wall_timer(std::chrono::nanoseconds period, Callback callback) {
        timers.push_back(std::make_shared<TimerBase>(period, std::move(callback)));
        return timers.back();
    }
    template <typename Message>
    typename Publisher<Message>::SharedPtr create_publisher(const std::string &topic, std::size_t) {
        return std::make_shared<Publisher<Message>>(topic);
    }
    template <typename Message, typename Callback>
    typename Subscription<Message>::SharedPtr create_subscription(const std::string &topic, std::size_t, Callback of) {
        Topic<Message>::of(topic)->subscribers.push_back(std::move(of));
        return std::make_shared<Subscription<Message>>();
    }
    std::vector<std::shared_ptr<TimerBase>> timers;

private:
    std::string name_;
};

namespace executors {
class SingleThreadedExecutor {
public:
    void add_node(std::shared_ptr<Node> node) { nodes_.push_back(std::move(node)); }
    void spin_some() {
        for (const auto &node : nodes_) {
            for (const auto &timer : node->timers) {
                if (timer->due <= std::chrono::steady_clock::now()) {
                    timer->due += timer->period;
                    timer->callback();
                }
            }
        }
        for (auto left = waiting().size(); left > 0; left--) {
            const auto deliver = std::move(waiting().front());
            waiting().pop_front();
            deliver();
        }
    }
    void spin() {
        while (ok()) {
            spin_some();
            auto next = std::chrono::steady_clock::now() + std::chrono::milliseconds(10);
            for (const auto &node : nodes_) {
                for (const auto &timer : node->timers) {
                    next = std::min(next, timer->due);
                }
            }
            if (waiting().empty()) {
                std::this_thread::sleep_until(next);
            }
        }
    }

private:
    std::vector<std::shared_ptr<Node>> nodes_;
};
}  // namespace executors

}  // namespace rclcpp
