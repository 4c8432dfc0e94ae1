// A node in one thread, as libtracetools is told of it by code with the names of rclcpp's templates: a timer of 10 ms
// whose callable is a lambda, and a subscriber whose callable a std::function holds. It says "ready" once both have run,
// and ends when its input does.
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <functional>
#include <poll.h>

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
    timespec next;
    clock_gettime(CLOCK_MONOTONIC, &next);
    while (poll(&input, 1, 0) == 0) {
        next.tv_nsec += 10000000;
        next.tv_sec += next.tv_nsec / 1000000000;
        next.tv_nsec %= 1000000000;
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
