"""The overrunning node under `wakepath watch`, which a prefix starts in its place."""

from launch import LaunchDescription
from launch_ros.actions import Node


def generate_launch_description():
    return LaunchDescription([
        Node(
            package='wakepath_examples',
            executable='overrun',
            prefix='wakepath watch --ros2 --for 20s --',
            output='screen',
        ),
    ])
