/* What a libcontroller_manager.so and a libcontroller_interface.so export, as far as `wakepath watch --ros2` records it.
 * The names are those that C++ gives to the methods; `this` is their first argument. */
#define NOTHING { __asm__ volatile("" ::: "memory"); return 0; }

int _ZN18controller_manager17ControllerManager4readERKN6rclcpp4TimeERKNS1_8DurationE(void *of, void *time, void *period) NOTHING
int _ZN18controller_manager17ControllerManager5writeERKN6rclcpp4TimeERKNS1_8DurationE(void *of, void *time, void *period) NOTHING
int _ZN20controller_interface23ControllerInterfaceBase4initERKNSt7__cxx1112basic_stringE(void *of, void *name) NOTHING

int _ZN3arm3Pid6updateERKN6rclcpp4TimeERKNS2_8DurationE(void *, void *, void *);

/* Each controller in its turn, until there is none. */
int _ZN18controller_manager17ControllerManager6updateERKN6rclcpp4TimeERKNS1_8DurationE(void **of, void *time, void *period) {
    for (; *of; of++) {
        _ZN3arm3Pid6updateERKN6rclcpp4TimeERKNS2_8DurationE(*of, time, period);
    }
    return 0;
}
