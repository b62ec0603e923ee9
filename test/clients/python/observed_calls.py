"""Which methods of the SDK ran, and what each of them asked a server, without a change to the SDK.

Python itself reports when a function starts and ends (`sys.monitoring`); httpx reports requests to whoever made the client.
"""

import sys
import threading
from types import CodeType, FunctionType
from urllib.parse import urlsplit

import httpx

_tool = sys.monitoring.PROFILER_ID
_events = sys.monitoring.events


class ObservedCalls:
    """Methods by `Class.method`; each with the requests made while it ran and whether it has ever come to its end."""

    def __init__(self, classes: tuple[type, ...]) -> None:
        self.surface = {cls.__name__: list(_own_public_methods(cls)) for cls in classes}
        self.requests: dict[str, set[str]] = {}
        self.worked: set[str] = set()
        self.failed: dict[str, str] = {}
        # Classes share what they inherit.
        self._names: dict[CodeType, tuple[str, ...]] = {}
        self._running = threading.local()
        sys.monitoring.use_tool_id(_tool, "observed calls")
        register = sys.monitoring.register_callback
        register(_tool, _events.PY_START, lambda code, _offset: self._started(code))
        register(_tool, _events.PY_RETURN, lambda code, _offset, _value: self._ended(code, None))
        register(_tool, _events.PY_UNWIND, lambda code, _offset, error: self._ended(code, error))
        # Ends by an exception are reported for everything or for nothing.
        sys.monitoring.set_events(_tool, _events.PY_UNWIND)
        # The health of a workspace is asked for with urllib.
        sys.addaudithook(self._audit)
        for cls in classes:
            for method, function in _own_public_methods(cls).items():
                names = self._names.get(function.__code__, ())
                self._names[function.__code__] = (*names, f"{cls.__name__}.{method}")
                sys.monitoring.set_local_events(
                    _tool, function.__code__, _events.PY_START | _events.PY_RETURN
                )

    def hook(self, client: httpx.Client | httpx.AsyncClient) -> None:
        """Notes what a client asks for from now on."""

        async def note_later(request: httpx.Request) -> None:
            self.note(request.method, request.url.path)

        def note(request: httpx.Request) -> None:
            self.note(request.method, request.url.path)

        is_async = isinstance(client, httpx.AsyncClient)
        client.event_hooks["request"].append(note_later if is_async else note)

    def note(self, method: str, path: str) -> None:
        for names in self._stack():
            for name in names:
                self.requests.setdefault(name, set()).add(f"{method} {path}")

    def _audit(self, event: str, details: tuple[object, ...]) -> None:
        if event == "urllib.Request":
            self.note(str(details[3]), urlsplit(str(details[0])).path)

    def _stack(self) -> list[tuple[str, ...]]:
        if not hasattr(self._running, "stack"):
            self._running.stack = []
        return self._running.stack

    def _started(self, code: CodeType) -> None:
        names = self._names.get(code)
        if names is not None:
            self._stack().append(names)

    def _ended(self, code: CodeType, error: BaseException | None) -> None:
        names = self._names.get(code)
        if names is None:
            return
        stack = self._stack()
        if names in stack:
            stack.reverse()
            stack.remove(names)
            stack.reverse()
        for name in names:
            if error is None:
                self.worked.add(name)
            else:
                self.failed[name] = _describe(error)


def _describe(error: BaseException) -> str:
    if isinstance(error, httpx.HTTPStatusError):
        return str(error.response.status_code)
    return type(error).__name__


def _own_public_methods(cls: type) -> dict[str, FunctionType]:
    """Methods and properties of a class and of its bases in the SDK that describe conversations and workspaces."""
    found: dict[str, FunctionType] = {}
    for base in reversed(cls.__mro__):
        if not base.__module__.startswith(("openhands.sdk.conversation", "openhands.sdk.workspace")):
            if not base.__module__.startswith("openhands.workspace"):
                continue
        for name, member in vars(base).items():
            if name.startswith("_") or name.startswith("model_"):
                continue
            function = _function_of(member)
            if function is not None:
                found[name] = function
    return found


def _function_of(member: object) -> FunctionType | None:
    if isinstance(member, property):
        member = member.fget
    if isinstance(member, (classmethod, staticmethod)):
        member = member.__func__
    # Decorators keep what they wrap; its code is what runs.
    while hasattr(member, "__wrapped__"):
        member = member.__wrapped__
    return member if isinstance(member, FunctionType) else None

