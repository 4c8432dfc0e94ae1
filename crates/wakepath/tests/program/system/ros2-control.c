/* The loop of a manager with two controllers, of which the second runs in every fourth cycle; the rest of a manager's
 * node is not here. */
#include <time.h>

void ros_trace_rcl_node_init(const void *, const void *, const char *, const char *);
int _ZN18controller_manager17ControllerManager4readERKN6rclcpp4TimeERKNS1_8DurationE(void *, void *, void *);
int _ZN18controller_manager17ControllerManager6updateERKN6rclcpp4TimeERKNS1_8DurationE(void *, void *, void *);
int _ZN18controller_manager17ControllerManager5writeERKN6rclcpp4TimeERKNS1_8DurationE(void *, void *, void *);
int _ZN20controller_interface23ControllerInterfaceBase4initERKNSt7__cxx1112basic_stringE(void *, void *);

/* As libstdc++ lays it out. */
struct string {
    const char *text;
    unsigned long length;
};

int main(void) {
    static char node, arm, gripper;
    const struct string names[] = {{"arm", 3}, {"gripper", 7}};
    ros_trace_rcl_node_init(&node, 0, "controller_manager", "/");
    _ZN20controller_interface23ControllerInterfaceBase4initERKNSt7__cxx1112basic_stringE(&arm, (void *)&names[0]);
    _ZN20controller_interface23ControllerInterfaceBase4initERKNSt7__cxx1112basic_stringE(&gripper, (void *)&names[1]);
    for (int cycle = 0; cycle < 100; cycle++) {
        const struct timespec period = {0, 5000000};
        void *controllers[] = {&arm, cycle % 4 == 0 ? &gripper : 0, 0};
        _ZN18controller_manager17ControllerManager4readERKN6rclcpp4TimeERKNS1_8DurationE(controllers, 0, 0);
        _ZN18controller_manager17ControllerManager6updateERKN6rclcpp4TimeERKNS1_8DurationE(controllers, 0, 0);
        _ZN18controller_manager17ControllerManager5writeERKN6rclcpp4TimeERKNS1_8DurationE(controllers, 0, 0);
        clock_nanosleep(CLOCK_MONOTONIC, 0, &period, 0);
    }
    return 0;
}
