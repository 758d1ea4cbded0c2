"""The native runtime: load, decide, append, dispatch, written against the ports."""

from perdure.engine.answers import Reply
from perdure.engine.context import ActivationContext
from perdure.engine.engine import Engine
from perdure.engine.handlers import ActivationError, Handler, HandlerSpec, Lack, NodeHandlers, Result
from perdure.engine.library import Edition, Library
from perdure.engine.observer import Observer
from perdure.engine.settings import EngineSettings
from perdure.engine.starts import Started

__all__ = [
    "ActivationContext",
    "ActivationError",
    "Edition",
    "Engine",
    "EngineSettings",
    "Handler",
    "HandlerSpec",
    "Lack",
    "Library",
    "NodeHandlers",
    "Observer",
    "Reply",
    "Result",
    "Started",
]
