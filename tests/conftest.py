"""What every test gets: the shared fixtures and one Hypothesis profile."""

import pytest
from hypothesis import HealthCheck, settings

pytest.register_assert_rewrite("perdure.testing.contracts")  # before any test imports it

pytest_plugins = ["tests.fixtures.mailserver", "tests.fixtures.postgres"]

# Two busy cores make wall-clock deadlines lie; pytest-timeout still bounds every test.
settings.register_profile("perdure", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("perdure")
