"""What every scenario has: a server, a model, a folder that is a repository, and who watches the SDK."""

import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import httpx
from openhands.sdk import LLM, Agent, Conversation, Tool
from openhands.sdk.conversation.impl.remote_conversation import RemoteConversation
from openhands.sdk.event import Event
from openhands.sdk.workspace import RemoteWorkspace
from pydantic import SecretStr

from observed_calls import ObservedCalls


class Seen:
    """Events as a callback got them, in order."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._changed = threading.Condition()

    def __call__(self, event: Event) -> None:
        with self._changed:
            self.events.append(event)
            self._changed.notify_all()

    def kinds(self) -> list[str]:
        with self._changed:
            return [type(event).__name__ for event in self.events]

    def wait_for(self, kind: str, count: int = 1) -> None:
        with self._changed:
            is_there = lambda: [type(e).__name__ for e in self.events].count(kind) >= count  # noqa: E731
            assert self._changed.wait_for(is_there, timeout=20), f"no {kind}, only {self.kinds()}"


@dataclass
class World:
    url: str
    key: str
    model_url: str
    folder: Path
    calls: ObservedCalls
    _open: list[RemoteConversation] = field(default_factory=list)

    @property
    def llm(self) -> LLM:
        return LLM(
            model="openai/scripted",
            base_url=f"{self.model_url}/v1",
            api_key=SecretStr("llm-key"),
            num_retries=0,
        )

    def agent(self, *tools: str, **options: object) -> Agent:
        return Agent(llm=self.llm, tools=[Tool(name=name) for name in tools or ("terminal",)], **options)

    def workspace(self) -> RemoteWorkspace:
        workspace = RemoteWorkspace(host=self.url, api_key=self.key, working_dir=str(self.folder))
        self.calls.hook(workspace.client)
        return workspace

    def conversation(self, **options: object) -> tuple[RemoteConversation, Seen]:
        """A new conversation, or the one that `conversation_id` names, with what its socket says."""
        seen = Seen()
        given = {"agent": self.agent(), "workspace": self.workspace(), **options}
        conversation = Conversation(callbacks=[seen], visualizer=None, **given)
        assert isinstance(conversation, RemoteConversation)
        self._open.append(conversation)
        return conversation, seen

    def get(self, path: str) -> httpx.Response:
        """Past the SDK, to look at the truth."""
        return httpx.get(f"{self.url}{path}", headers={"X-Session-API-Key": self.key})

    def call(self, method: str, path: str, body: object) -> httpx.Response:
        reply = httpx.request(method, f"{self.url}{path}", json=body, headers={"X-Session-API-Key": self.key})
        reply.raise_for_status()
        return reply

    def until(self, what: str, is_true: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 20
        while not is_true():
            assert time.monotonic() < deadline, f"waited in vain for {what}"
            time.sleep(0.02)

    def until_status(self, conversation: RemoteConversation, status: str) -> None:
        """What the socket has told the client."""
        self.until(f"status {status}", lambda: conversation.state.execution_status.value == status)

    def close(self) -> None:
        """Ends what a failed scenario left open."""
        while self._open:
            self._open.pop().close()


def refused(status: int, action: Callable[[], object]) -> None:
    """The SDK passes on the server's refusal."""
    try:
        action()
    except httpx.HTTPStatusError as error:
        assert error.response.status_code == status, error
        return
    raise AssertionError(f"this was not refused with {status}")


def world_from_environment(calls: ObservedCalls) -> World:
    env = os.environ
    return World(
        url=env["CONVOKE_URL"],
        key=env["CONVOKE_KEY"],
        model_url=env["MODEL_URL"],
        folder=Path(env["WORKSPACE"]),
        calls=calls,
    )
