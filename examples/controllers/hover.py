"""The least controller, in Python: rotors at hover speed, corrected for the height alone.

    work = { kind = "library", library = "hover.py", trajectory = "hover" }

`settings`, if it is not empty, is a factor on the height's gains.
"""

from math import sqrt

WAKEPATH_CONTROLLER_VERSION = 1


class Controller:
    def __init__(self, setup):
        factor = float(setup.settings or 1)
        self.position_gain = factor * setup.position_gain_per_s2[2]
        self.velocity_gain = factor * setup.velocity_gain_per_s[2]
        self.mass = setup.mass_kg
        self.thrust = setup.thrust
        self.weight = 4 * setup.thrust * setup.hover_speed_rad_s**2
        self.max_speed = setup.max_speed_rad_s

    def step(self, now):
        error = now.wanted_position_m[2] - now.position_m[2]
        up = self.position_gain * error - self.velocity_gain * now.velocity_m_s[2]
        force = max(0.0, self.weight + self.mass * up) / 4
        speed = min(sqrt(force / self.thrust), self.max_speed)
        return speed, speed, speed, speed
