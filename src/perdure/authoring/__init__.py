"""What user code imports to write workflows: decorators and builders."""
