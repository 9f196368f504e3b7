"""What a frontend raises."""


class FrontendError(ValueError):
    """A source that can't be turned into a program; the message says which workload, where and what is allowed."""
