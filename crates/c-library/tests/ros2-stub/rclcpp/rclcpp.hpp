// A stub of rclcpp: one process, one thread, topics as queues within it.
#pragma once

#include <atomic>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>
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

/// The arguments of a callback, as rclcpp finds them: of a function, or of the one call operator of an object, which is
/// const and no template. Anything else does not compile.
template <typename Callable>
struct Arguments : Arguments<decltype(&Callable::operator())> {};
template <typename R, typename... A>
struct Arguments<R (*)(A...)> {
    using Types = std::tuple<std::decay_t<A>...>;
};
template <typename R, typename Of, typename... A>
struct Arguments<R (Of::*)(A...) const> : Arguments<R (*)(A...)> {};

inline bool &running() {
    static bool value = true;
    return value;
}
/// What the program was started with.
inline std::vector<std::string> &given() {
    static std::vector<std::string> arguments;
    return arguments;
}
inline void init(int count, char **arguments) { given().assign(arguments, arguments + count); }

class NodeOptions {
public:
    const std::vector<std::string> &arguments() const { return arguments_; }
    NodeOptions &arguments(const std::vector<std::string> &arguments) {
        arguments_ = arguments;
        return *this;
    }

private:
    std::vector<std::string> arguments_;
};
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
        static_assert(std::is_same_v<typename Arguments<Callback>::Types, std::tuple<>>, "takes arguments");
        timers.push_back(std::make_shared<TimerBase>(period, std::move(callback)));
        return timers.back();
    }
    template <typename Message>
    typename Publisher<Message>::SharedPtr create_publisher(const std::string &topic, std::size_t) {
        return std::make_shared<Publisher<Message>>(topic);
    }
    template <typename Message, typename Callback>
    typename Subscription<Message>::SharedPtr create_subscription(const std::string &topic, std::size_t, Callback of) {
        static_assert(std::is_same_v<typename Arguments<Callback>::Types, std::tuple<Message>>, "takes something else");
        Topic<Message>::of(topic)->subscribers.push_back(std::move(of));
        return std::make_shared<Subscription<Message>>();
    }
    std::vector<std::shared_ptr<TimerBase>> timers;

private:
    std::string name_;
};

class Executor {
public:
    virtual ~Executor() = default;
    /// The node is not kept: whoever adds it has to.
    void add_node(const std::shared_ptr<Node> &node) { nodes_.push_back(node); }
    void spin_some() {
        each_timer([](TimerBase &timer) {
            if (timer.due <= std::chrono::steady_clock::now()) {
                timer.due += timer.period;
                timer.callback();
            }
        });
        for (auto left = waiting().size(); left > 0; left--) {
            const auto deliver = std::move(waiting().front());
            waiting().pop_front();
            deliver();
        }
    }
    virtual void spin() {
        while (ok()) {
            spin_some();
            auto next = std::chrono::steady_clock::now() + std::chrono::milliseconds(10);
            each_timer([&next](const TimerBase &timer) { next = std::min(next, timer.due); });
            if (waiting().empty()) {
                std::this_thread::sleep_until(next);
            }
        }
    }

private:
    template <typename Each>
    void each_timer(Each each) {
        for (const auto &held : nodes_) {
            if (const auto node = held.lock()) {
                for (const auto &timer : node->timers) {
                    each(*timer);
                }
            }
        }
    }
    std::vector<std::weak_ptr<Node>> nodes_;
};

namespace executors {
class SingleThreadedExecutor : public Executor {};

/// Two threads that take turns, each for one callback.
class MultiThreadedExecutor : public Executor {
public:
    /// Two threads take turns.
    void spin() override {
        std::atomic<int> turn{0};
        const auto work = [this, &turn](int number) {
            while (ok()) {
                if (turn == number) {
                    spin_some();
                    turn = 1 - number;
                }
                std::this_thread::sleep_for(std::chrono::microseconds(100));
            }
        };
        std::thread other(work, 1);
        work(0);
        other.join();
    }
};
}  // namespace executors

}  // namespace rclcpp
