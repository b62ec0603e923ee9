"""A machine from the V1 face, as the SDK's workspace in the cloud: made, used, paused, resumed and deleted."""

from openhands.workspace import OpenHandsCloudWorkspace

from world import World


def sandbox(world: World) -> None:
    with OpenHandsCloudWorkspace(
        cloud_api_url=world.url, cloud_api_key=world.key, working_dir="/workspace"
    ) as workspace:
        world.calls.hook(workspace.client)
        print(workspace.host)
        assert workspace.alive is True
        assert workspace.execute_command("echo out").stdout == "out\n"


scenarios = {"a sandbox of the V1 face": sandbox}
