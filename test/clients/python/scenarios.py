"""Drives a running server with the SDK. Prints one JSON line per scenario, then one with what every method did."""

import importlib.metadata
import json
import os
import sys
import time
import traceback

# Before the SDK: no banner, no look at the price list on the network.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
os.environ.setdefault("OPENHANDS_SUPPRESS_BANNER", "1")

import openhands.tools.file_editor  # noqa: F401
import openhands.tools.task_tracker  # noqa: F401
import openhands.tools.terminal  # noqa: F401
from openhands.sdk.conversation.impl.remote_conversation import (
    RemoteConversation,
    RemoteEventsList,
    RemoteState,
    WebSocketCallbackClient,
)
from openhands.sdk.workspace import AsyncRemoteWorkspace, RemoteWorkspace

import cloud_scenarios
import conversation_scenarios
import cross_scenarios
import workspace_scenarios
from observed_calls import ObservedCalls
from world import world_from_environment

classes = (
    RemoteConversation,
    RemoteState,
    RemoteEventsList,
    WebSocketCallbackClient,
    RemoteWorkspace,
    AsyncRemoteWorkspace,
)


def main(only: list[str]) -> None:
    say = lambda value: print(json.dumps(value), flush=True)  # noqa: E731
    calls = ObservedCalls(classes)
    world = world_from_environment(calls)
    for scenarios in (conversation_scenarios, workspace_scenarios, cloud_scenarios, cross_scenarios):
        for name, scenario in scenarios.scenarios.items():
            if only and not any(word in name for word in only):
                continue
            started = time.monotonic()
            error = None
            try:
                scenario(world)
            except Exception:  # Whatever it is, the table says it and the next scenario has its turn.
                error = traceback.format_exc()
            world.close()
            say({"scenario": name, "seconds": round(time.monotonic() - started, 1), "error": error})
    say(
        {
            "version": importlib.metadata.version("openhands-sdk"),
            "surface": calls.surface,
            "requests": {name: sorted(found) for name, found in calls.requests.items()},
            "worked": sorted(calls.worked),
            "failed": calls.failed,
        }
    )


main(sys.argv[1:])
