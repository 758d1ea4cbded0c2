"""Use cases without HTTP words: definitions, runs, tasks, lifecycles, schedules, access, audit."""
