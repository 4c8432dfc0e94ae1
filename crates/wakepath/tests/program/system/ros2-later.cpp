// A node in one thread, as libtracetools is told of it by code with the names of rclcpp's templates: a timer of 10 ms
// whose callable is a lambda, and a subscriber whose callable a std::function holds. It says "ready" once both have run,
// and ends when its input does. It has a real-time priority, so that the period shows on a busy machine, and passes due
// times over as rcl does.
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <functional>
#include <poll.h>
#include <sched.h>

extern "C" {
void ros_trace_callback_start(const void *, bool);
void ros_trace_callback_end(const void *);
void ros_trace_rmw_publish(const void *, const void *, int64_t);
void ros_trace_rmw_take(const void *, const void *, int64_t, bool);
}

namespace rclcpp {
template <typename Callable>
struct GenericTimer {
    Callable callback;
    [[gnu::noinline]] void execute_callback() {
        ros_trace_callback_start(&callback, false);
        callback();
        ros_trace_callback_end(&callback);
    }
};
struct Subscription {
    std::function<void(int)> callback;
    [[gnu::noinline]] void dispatch() {
        ros_trace_callback_start(this, false);
        callback(1);
        ros_trace_callback_end(this);
    }
};
}  // namespace rclcpp

// As rmw/types.h has publishers and subscriptions.
struct End {
    const char *implementation;
    void *data;
    const char *topic;
};

struct Controller {
    long runs = 0;
    End out{"", nullptr, "/pose"};
    int64_t stamp = 0;
    [[gnu::noinline]] auto timer() {
        auto step = [this] {
            timespec at;
            clock_gettime(CLOCK_MONOTONIC, &at);
            stamp = at.tv_sec * INT64_C(1000000000) + at.tv_nsec;
            ros_trace_rmw_publish(&out, &stamp, stamp);
            ++runs;
        };
        return rclcpp::GenericTimer<decltype(step)>{step};
    }
};

int main() {
    Controller controller;
    auto timer = controller.timer();
    End in{"", nullptr, "/pose"};
    long taken = 0;
    rclcpp::Subscription subscription{[&taken](int messages) { taken += messages; }};
    pollfd input{0, POLLIN, 0};
    const sched_param priority{10};
    sched_setscheduler(0, SCHED_FIFO, &priority);
    constexpr int64_t period_ns = 10000000;
    const auto now_ns = [] {
        timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
    };
    int64_t next_ns = now_ns();
    while (poll(&input, 1, 0) == 0) {
        next_ns += period_ns;
        const int64_t behind_ns = now_ns() - next_ns;
        next_ns += behind_ns > 0 ? behind_ns / period_ns * period_ns : 0;
        const timespec next{next_ns / 1000000000, next_ns % 1000000000};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, nullptr);
        timer.execute_callback();
        ros_trace_rmw_take(&in, &taken, controller.stamp, true);
        subscription.dispatch();
        if (controller.runs == 1) {
            std::puts("ready");
            std::fflush(stdout);
        }
    }
}
