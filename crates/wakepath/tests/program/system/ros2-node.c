/* Two nodes in one executor of one thread, as libtracetools is told of them: a timer of 10 ms that publishes, a timer of
 * 250 ms that sleeps for 30, a subscriber, and a client that gets an answer after each such sleep. It notes how often
 * each ran, and the gaps of the first above 15 ms, in the file that its first argument names; the second is how many
 * seconds it runs. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

void ros_trace_rcl_node_init(const void *, const void *, const char *, const char *);
void ros_trace_rcl_timer_init(const void *, int64_t);
void ros_trace_rclcpp_timer_callback_added(const void *, const void *);
void ros_trace_rclcpp_timer_link_node(const void *, const void *);
void ros_trace_rcl_subscription_init(const void *, const void *, const void *, const char *, uint64_t);
void ros_trace_rclcpp_subscription_init(const void *, const void *);
void ros_trace_rclcpp_subscription_callback_added(const void *, const void *);
void ros_trace_rcl_publisher_init(const void *, const void *, const void *, const char *, uint64_t);
void ros_trace_rcl_client_init(const void *, const void *, const void *, const char *);
void ros_trace_callback_start(const void *, bool);
void ros_trace_callback_end(const void *);
void ros_trace_rmw_publish(const void *, const void *, int64_t);
void ros_trace_rmw_take(const void *, const void *, int64_t, bool);
int rcl_take_response_with_info(const void *, void *, void *);

static int64_t now(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec * INT64_C(1000000000) + at.tv_nsec;
}

static void sleep_until(int64_t ns) {
    const struct timespec at = {ns / 1000000000, ns % 1000000000};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) != 0) {
    }
}

struct timer {
    char callback;
    int64_t period, next;
    long runs;
};

static void make(struct timer *timer, int64_t period, const void *node) {
    timer->period = period;
    timer->next = now() + period;
    ros_trace_rcl_timer_init(timer, period);
    ros_trace_rclcpp_timer_callback_added(timer, &timer->callback);
    ros_trace_rclcpp_timer_link_node(timer, node);
}

/* Whether it is due, or will be so soon; then the next call is due at the next whole period. */
static bool called(struct timer *timer, int64_t soon) {
    const int64_t at = now();
    if (at + soon < timer->next) {
        return false;
    }
    timer->next += timer->period;
    if (timer->next < at) {
        timer->next += (1 + (at - timer->next - 1) / timer->period) * timer->period;
    }
    timer->runs++;
    return true;
}

int main(int count, char **arguments) {
    static char pilot, motor, client, out, out_rmw, in, in_rmw, object, taking;
    static struct timer control, slow;
    const int64_t length = count > 2 ? atoll(arguments[2]) * 1000000000 : 1200000000;
    ros_trace_rcl_node_init(&pilot, NULL, "pilot", "/");
    ros_trace_rcl_node_init(&motor, NULL, "motor", "/arm");
    ros_trace_rcl_publisher_init(&out, &pilot, &out_rmw, "/pose", 10);
    ros_trace_rcl_subscription_init(&in, &motor, &in_rmw, "/pose", 10);
    ros_trace_rclcpp_subscription_init(&in, &object);
    ros_trace_rclcpp_subscription_callback_added(&object, &taking);
    ros_trace_rcl_client_init(&client, &pilot, &client, "/plan");
    make(&control, 10000000, &pilot);
    make(&slow, 250000000, &pilot);
    long gaps = 0, messages = 0;
    int64_t before = 0;
    const int64_t end = now() + length;
    while (now() < end) {
        int64_t stamp = 0;
        if (called(&control, 0)) {
            const int64_t at = now();
            ros_trace_callback_start(&control.callback, false);
            gaps += before != 0 && at - before > 15000000;
            before = at;
            stamp = now();
            ros_trace_rmw_publish(&out_rmw, &stamp, stamp);
            ros_trace_callback_end(&control.callback);
        }
        if (called(&slow, 5000000)) {
            ros_trace_callback_start(&slow.callback, false);
            sleep_until(now() + 30000000);
            ros_trace_callback_end(&slow.callback);
            /* An answer to its client, and one to another client of that service. */
            rcl_take_response_with_info(&client, &client, &client);
            rcl_take_response_with_info(&client, NULL, &client);
        }
        if (stamp != 0) {
            ros_trace_rmw_take(&in_rmw, &stamp, stamp, true);
            ros_trace_callback_start(&taking, false);
            messages++;
            ros_trace_callback_end(&taking);
        }
        ros_trace_rmw_take(&in_rmw, &stamp, 0, false);
        sleep_until(control.next < slow.next ? control.next : slow.next);
    }
    FILE *truth = fopen(arguments[1], "w");
    fprintf(truth, "%ld %ld %ld %ld\n", control.runs, slow.runs, messages, gaps);
    return fclose(truth);
}
