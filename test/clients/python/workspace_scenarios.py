"""The machine behind a conversation, as the SDK's remote workspaces, blocking and asynchronous."""

import asyncio
import tempfile
from pathlib import Path

from openhands.sdk.workspace import AsyncRemoteWorkspace

from world import World


def commands(world: World) -> None:
    workspace = world.workspace()
    result = workspace.execute_command("echo out; echo err >&2; exit 3")
    assert (result.exit_code, result.stdout, result.stderr) == (3, "out\n", "err\n")
    assert workspace.execute_command("pwd", cwd="/").stdout == "/\n"
    assert workspace.execute_command("pwd", cwd=world.folder).stdout == f"{world.folder}\n"
    late = workspace.execute_command("echo early; sleep 20", timeout=1)
    assert late.exit_code == -1 and "early" in late.stdout
    long = workspace.execute_command("seq 200000")
    assert long.stdout.startswith("1\n2\n") and long.stdout.endswith("\n200000\n")
    # In the background, looked at, and stopped.
    id = workspace.start_command("echo begun; sleep 60", timeout=120)
    world.until("its first line", lambda: (workspace.get_command_output(id) or {}).get("stdout") == "begun\n")
    workspace.stop_command(id)
    world.until(
        "its end", lambda: (workspace.get_command_output(id) or {}).get("exit_code") not in (None, 0)
    )
    workspace.stop_command(id)
    workspace.stop_command("0" * 32)


def files(world: World) -> None:
    workspace = world.workspace()
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "source.bin")
        content = bytes(range(256)) * 4096
        source.write_bytes(content)
        target = world.folder / "deep" / "copied.bin"
        uploaded = workspace.file_upload(source, target)
        assert uploaded.success and target.read_bytes() == content, uploaded
        assert workspace.file_upload(b"in memory", world.folder / "memory.txt").success
        back = workspace.file_download(target, Path(folder, "back", "again.bin"))
        assert back.success and back.file_size == len(content), back
        assert Path(folder, "back", "again.bin").read_bytes() == content
        absent = workspace.file_download(world.folder / "absent", Path(folder, "absent"))
        assert absent.success is False and "404" in (absent.error or "")


def git(world: World) -> None:
    workspace = world.workspace()
    changes = {str(change.path): change.status.value for change in workspace.git_changes(".")}
    assert changes["README.md"] == "UPDATED", changes
    diff = workspace.git_diff("README.md")
    assert (diff.original, diff.modified) == ("first", "second")


def settings(world: World) -> None:
    workspace = world.workspace()
    llm = {"model": "openai/scripted", "base_url": f"{world.model_url}/v1", "api_key": "profile-key"}
    world.call("POST", "/api/profiles/quick", {"llm": llm})
    world.call("PUT", "/api/settings/secrets", {"name": "GREETING", "value": "hi", "description": "a word"})
    server = {"command": "true"}
    world.call(
        "PATCH", "/api/settings", {"agent_settings_diff": {"llm": llm, "mcp_config": {"quiet": server}}}
    )
    named = workspace.get_llm("quick", temperature=0.5)
    assert named.model == "openai/scripted" and named.temperature == 0.5
    assert named.api_key.get_secret_value() == "profile-key"
    assert workspace.get_llm().model == "openai/scripted"
    found = workspace.get_secrets(["GREETING"])
    assert found["GREETING"].get_value() == "hi" and found["GREETING"].description == "a word"
    assert "quiet" in workspace.get_mcp_config()
    # A conversation takes such a secret as it is.
    conversation, _ = world.conversation()
    conversation.update_secrets(workspace.get_secrets())
    conversation.close()
    world.call("PATCH", "/api/settings", {"agent_settings_diff": {"mcp_config": None}})


def skills(world: World) -> None:
    folder = world.folder / ".agents" / "skills" / "greeting"
    folder.mkdir(parents=True, exist_ok=True)
    folder.joinpath("SKILL.md").write_text(
        "---\nname: greeting\ndescription: how to greet\ntriggers: [greet]\n---\nSay hi.\n"
    )
    workspace = world.workspace()
    found, context = workspace.load_skills_from_agent_server(load_public=False, load_org=False)
    assert "greeting" in [skill.name for skill in found], found
    assert "greeting" in [skill.name for skill in context.skills]
    many, _ = workspace.load_skills_from_agent_server(project_dirs=[world.folder], load_public=False)
    assert "greeting" in [skill.name for skill in many]


def connection(world: World) -> None:
    with world.workspace() as workspace:
        assert workspace.alive is True
        info = workspace.get_server_info()
        assert isinstance(info["version"], str)
        assert workspace.api_prefix == "/api"
        assert not workspace.default_conversation_tags
        workspace.register_conversation("x")
        assert workspace.conversation_id == "x"
        workspace.register_cost(1.0)
        assert workspace.accumulated_cost == 1.0
        workspace.reset_client()
        assert workspace.execute_command("true").exit_code == 0
        assert workspace.clone_repos([]).success_count == 0
        assert workspace.get_repos_context({}) == ""
    for call in (workspace.pause, workspace.resume):
        try:
            call()
            raise AssertionError("the SDK has it now")
        except NotImplementedError:
            pass
    for call in (workspace.get_runtime_session_key, workspace.release_runtime):
        try:
            call()
            raise AssertionError("this needs a container of one conversation")
        except ValueError:
            pass
    wrong = type(workspace)(host=world.url, api_key="wrong", working_dir=str(world.folder))
    assert "401" in wrong.execute_command("true").stderr


def asynchronous(world: World) -> None:
    async def all_of_it() -> None:
        async with AsyncRemoteWorkspace(
            host=world.url, api_key=world.key, working_dir=str(world.folder)
        ) as workspace:
            world.calls.hook(workspace.client)
            assert workspace.alive is True and workspace.api_prefix == "/api"
            assert (await workspace.get_server_info())["version"]
            assert (await workspace.execute_command("echo out")).stdout == "out\n"
            id = await workspace.start_command("sleep 60", timeout=120)
            await workspace.get_command_output(id)
            await workspace.stop_command(id)
            target = world.folder / "async.txt"
            assert (await workspace.file_upload(b"later", target)).success
            with tempfile.TemporaryDirectory() as folder:
                assert (await workspace.file_download(target, Path(folder, "x"))).file_size == 5
            assert "README.md" in [str(change.path) for change in await workspace.git_changes(".")]
            assert (await workspace.git_diff("README.md")).modified == "second"
            for call in (workspace.get_runtime_session_key, workspace.release_runtime):
                try:
                    await call()
                    raise AssertionError("this needs a container of one conversation")
                except ValueError:
                    pass

    asyncio.run(all_of_it())


scenarios = {
    "commands": commands,
    "files": files,
    "changes of a repository": git,
    "settings, models and stored secrets": settings,
    "skills": skills,
    "the connection": connection,
    "an asynchronous workspace": asynchronous,
}
