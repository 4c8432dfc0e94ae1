"""Time of RotorPy 3.0.0's SE3Control.update, the same law, on the machine that runs this.

    python -m venv venv && venv/bin/pip install rotorpy==3.0.0 && venv/bin/python rotorpy_time.py
"""
import timeit

import numpy as np
from rotorpy.controllers.quadrotor_control import SE3Control
from rotorpy.vehicles.hummingbird_params import quad_params

controller = SE3Control(quad_params)
state = {
    "x": np.array([0.02, -0.01, 0.03]),
    "v": np.array([0.05, -0.04, 0.02]),
    "q": np.array([0.025143279, -0.014744059, 0.010370512, 0.999521326]),
    "w": np.array([0.1, -0.2, 0.05]),
}
flat = {"x": np.zeros(3), "x_dot": np.zeros(3), "x_ddot": np.zeros(3), "yaw": 0.1, "yaw_dot": 0.0}
calls = 2000
best = min(timeit.repeat(lambda: controller.update(0, state, flat), number=calls, repeat=7))
print(f"RotorPy SE3Control.update: {1e6 * best / calls:.1f} µs per call (best of 7 × {calls})")
