"""A machine of its own from the V1 face, with everything that the SDK does on it behind the machine's address."""

import httpx
from openhands.sdk.event import ObservationEvent
from openhands.sdk.workspace import RemoteWorkspace
from openhands.workspace import OpenHandsCloudWorkspace
from pydantic import ValidationError

from world import World


def sandbox(world: World) -> None:
    machine = world.call("POST", "/api/v1/sandboxes", None).json()

    def is_running() -> bool:
        nonlocal machine
        machine = world.get(f"/api/v1/sandboxes?id={machine['id']}").json()[0]
        return machine["status"] == "RUNNING"

    world.until("the sandbox", is_running)
    url = next(each["url"] for each in machine["exposed_urls"] if each["name"] == "AGENT_SERVER")
    folder = world.get(f"/api/v1/sandboxes?id={machine['id']}").json()[0].get("working_dir") or "/workspace"
    workspace = RemoteWorkspace(host=url, api_key=machine["session_api_key"], working_dir=folder)
    world.calls.hook(workspace.client)
    assert workspace.alive is True
    ran = workspace.execute_command("echo out")
    assert ran.stdout == "out\n", ran
    assert workspace.file_upload(b"there", "/workspace/there.txt").success
    # The conversation's socket is behind the same address.
    conversation, _ = world.conversation(workspace=workspace)
    conversation.send_message("Please run")
    conversation.run(timeout=60)
    observation = next(event for event in conversation.state.events if isinstance(event, ObservationEvent))
    assert "it ran" in observation.observation.text, observation
    conversation.close()
    world.call("DELETE", f"/api/v1/sandboxes/{machine['id']}", None)


def cloud_workspace(world: World) -> None:
    """The SDK's own class compares the address that it was given with what httpx makes of it, which adds a slash to a path."""
    try:
        OpenHandsCloudWorkspace(cloud_api_url=world.url, cloud_api_key=world.key)
    except (ValidationError, AssertionError):
        pass
    else:
        raise AssertionError("a machine behind a path works now")
    for item in world.get("/api/v1/sandboxes/search").json()["items"]:
        httpx.delete(f"{world.url}/api/v1/sandboxes/{item['id']}", headers={"X-Session-API-Key": world.key})


scenarios = {"a sandbox of the V1 face": sandbox, "the cloud workspace": cloud_workspace}
