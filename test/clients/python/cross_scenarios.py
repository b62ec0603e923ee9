"""What clients of the newer wire take for granted, each case under the name that it has in the findings; old and new SDK alike."""

import importlib
from importlib.metadata import version
from typing import Any

import httpx
from openhands.sdk import AgentContext, Tool
from openhands.sdk.event import MessageEvent, ObservationEvent, SystemPromptEvent
from openhands.sdk.profiles.agent_profile import validate_agent_profile
from openhands.sdk.subagent import AgentDefinition
from openhands.sdk.workspace import RemoteWorkspace

from world import World

is_newest = int(version("openhands-sdk").split(".")[1]) >= 58


def send(world: World, method: str, path: str, body: object = None, **headers: str) -> httpx.Response:
    sent = {"X-Session-API-Key": world.key, **headers}
    return httpx.request(method, f"{world.url}{path}", json=body, headers=sent, timeout=60)


def the_server(world: World) -> None:
    for path in ("/health", "/alive"):
        assert send(world, "GET", path).json() == {"status": "ok"}
    assert send(world, "GET", "/health", Accept="text/plain").text == "OK"
    info = world.workspace().get_server_info()
    assert "terminal" in info["usable_tools"], info
    assert info["sdk_version"] == info["version"] == "1.58.2"
    assert world.workspace().alive is True
    assert send(world, "POST", "/api/conversations/prepare-for-sandbox-pause").status_code == 204
    catalog = send(world, "GET", "/api/tools/catalog").json()["tools"]
    assert {entry["name"] for entry in catalog} == set(info["usable_tools"])
    assert "gpt-5.5" in send(world, "GET", "/api/llm/subscription/openai/models").json()["models"]


def the_default_preset(world: World) -> None:
    # The preset brings the kinds of the browser into the client; where Chromium is, they are in the log.
    importlib.import_module("openhands.tools.browser_use")
    tools = [Tool(name=name) for name in ("terminal", "file_editor", "task_tracker", "browser_tool_set")]
    conversation, _ = world.conversation(agent=world.agent().model_copy(update={"tools": tools}))
    conversation.send_message("Please run")
    conversation.run(timeout=30)
    assert any(isinstance(event, ObservationEvent) for event in conversation.state.events)
    conversation.close()


def a_planning_agent(world: World) -> None:
    planning = importlib.import_module("openhands.tools.preset.planning")
    conversation, seen = world.conversation(agent=planning.get_planning_agent(world.llm))
    conversation.send_message("Please plan")
    conversation.run(timeout=30)
    plan = world.folder / ".agents_tmp" / "PLAN.md"
    assert plan.read_text() == "Write it down.\n"
    observations = [event for event in seen.events if isinstance(event, ObservationEvent)]
    assert "planning_file_editor" in {event.tool_name for event in observations}
    assert "terminal" not in {event.tool_name for event in observations}
    told = len(seen.events)
    send(world, "POST", f"/api/conversations/{conversation.id}/plan/approve", {}).raise_for_status()
    world.until("the work", lambda: "terminal" in {getattr(event, "tool_name", "") for event in seen.events[told:]})
    world.until_status(conversation, "finished")
    plan.unlink()
    conversation.close()


def two_condensations(world: World) -> None:
    conversation, seen = world.conversation()
    for number in (1, 2):
        for _ in range(3):
            conversation.send_message("Please run")
            conversation.run(timeout=30)
        conversation.condense()
        seen.wait_for("CondensationSummaryEvent", number)
    events = list(conversation.state.events)
    ids = {event.id for event in events}
    condensations = [event for event in events if type(event).__name__ == "Condensation"]
    summaries = [event for event in events if type(event).__name__ == "CondensationSummaryEvent"]
    assert [event.summary for event in condensations] == [event.summary for event in summaries]
    assert all(id in ids for event in condensations for id in event.forgotten_event_ids)
    assert summaries[0].id in condensations[1].forgotten_event_ids
    conversation.close()


def skills_that_were_loaded(world: World) -> None:
    folder = world.folder / ".agents" / "skills" / "frob"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "SKILL.md").write_text("---\ndescription: How to frob.\n---\nTurn it twice.\n")
    # Skills of a project are read where the agent asks for them.
    asking = world.agent(agent_context=AgentContext(load_project_skills=True))
    conversation, _ = world.conversation(agent=asking)
    conversation.send_message("Please load")
    conversation.run(timeout=30)
    # The SDK keeps what it read; a new look asks the server.
    told = send(world, "GET", f"/api/conversations/{conversation.id}").json()
    assert told["invoked_skills"] == ["frob"], told
    conversation.close()


def an_interrupt_is_seen(world: World) -> None:
    conversation, seen = world.conversation()
    conversation.send_message("Please wait")
    conversation.run(blocking=False)
    world.until_status(conversation, "running")
    conversation.interrupt()
    seen.wait_for("InterruptEvent")
    world.until_status(conversation, "paused")
    kind = f"{type(next(e for e in seen.events if type(e).__name__ == 'InterruptEvent')).__module__}.InterruptEvent"
    found = send(world, "GET", f"/api/conversations/{conversation.id}/events/search?kind={kind}").json()
    assert len(found["items"]) == 1, found
    conversation.close()


def models_and_profiles(world: World) -> None:
    workspace = world.workspace()
    address = f"{world.model_url}/v1"
    connection = {"display_name": "Ours", "api_key": "sk-provider", "base_url": address}
    made = send(world, "POST", "/api/llm/provider-connections", connection).json()
    llm = {"model": "openai/scripted", "provider_connection_id": made["id"]}
    assert send(world, "POST", "/api/profiles/glm", {"llm": llm}).status_code == 201
    assert send(world, "POST", "/api/profiles/none", {"llm": {}}).status_code == 422
    assert send(world, "POST", "/api/agent-profiles/none", {"agent_kind": "openhands"}).status_code == 422
    named = workspace.get_llm(profile_name="glm")
    assert named.api_key is not None and named.api_key.get_secret_value() == "sk-provider"
    send(world, "POST", "/api/profiles/glm/activate").raise_for_status()
    change = {"agent_settings_diff": {"llm": {"temperature": 0.5}}}
    changed = send(world, "PATCH", "/api/settings", change).json()
    assert changed["active_profile"] == "glm", changed
    assert "sk-provider" not in send(world, "GET", "/api/settings").text
    exposed: dict[str, Any] = send(world, "GET", "/api/settings", **{"X-Expose-Secrets": "plaintext"}).json()
    assert exposed["agent_settings"]["llm"]["api_key"] == "sk-provider"
    default = workspace.get_llm()
    assert default.model == "openai/scripted" and str(default.base_url) == address
    assert default.api_key is not None and default.api_key.get_secret_value() == "sk-provider"

    # The first list makes one of the settings; every one is valid for the SDK, and edits count up.
    listed = send(world, "GET", "/api/agent-profiles").json()
    assert listed["active_agent_profile_id"] in [item["id"] for item in listed["profiles"]], listed
    agent = {"agent_kind": "openhands", "llm_profile_ref": "glm", "system_message_suffix": "Be brief."}
    for _ in range(2):
        send(world, "POST", "/api/agent-profiles/mine", agent).raise_for_status()
    for item in send(world, "GET", "/api/agent-profiles").json()["profiles"]:
        profile = send(world, "GET", f"/api/agent-profiles/{item['name']}").json()["profile"]
        assert validate_agent_profile(profile).llm_profile_ref == "glm", profile
    revisions = [
        item["revision"] for item in send(world, "GET", "/api/agent-profiles").json()["profiles"] if item["name"] == "mine"
    ]
    assert revisions == [1], revisions
    for path in ("/api/agent-profiles/mine", "/api/agent-profiles/default"):
        send(world, "DELETE", path).raise_for_status()
    send(world, "PATCH", "/api/settings", {"agent_settings_diff": {"llm": None}}).raise_for_status()
    send(world, "DELETE", "/api/profiles/glm").raise_for_status()
    send(world, "DELETE", f"/api/llm/provider-connections/{made['id']}").raise_for_status()


def the_gateway(world: World) -> None:
    llm = {"model": "openai/scripted", "base_url": f"{world.model_url}/v1", "api_key": "k"}
    send(world, "POST", "/api/profiles/chat", {"llm": llm}).raise_for_status()
    messages = [{"role": "user", "content": "Please greet"}]
    chat = send(world, "POST", "/v1/chat/completions", {"model": "openhands_chat", "messages": messages})
    assert chat.json()["choices"][0]["message"]["content"] == "Hello.", chat.text
    id = chat.headers["X-OpenHands-ServerConversation-ID"]
    folder = send(world, "GET", f"/api/conversations/{id}").json()["workspace"]["working_dir"]
    assert folder.startswith("/") and "chats" not in folder, folder
    answer = send(world, "POST", "/v1/responses", {"model": "openhands_chat", "input": "Please greet"}).json()
    assert answer["output"][0]["content"][0]["text"] == "Hello.", answer
    send(world, "DELETE", "/api/profiles/chat").raise_for_status()


def stored_workspaces(world: World) -> None:
    path = str(world.folder / "kept")
    for name in ("first", "second"):
        item = {"id": name, "name": name, "path": path}
        send(world, "POST", "/api/workspaces", {"workspaces": [item]}).raise_for_status()
    stored = send(world, "GET", "/api/workspaces").json()["workspaces"]
    assert [item["name"] for item in stored if item["path"] == path] == ["first"], stored
    assert send(world, "DELETE", f"/api/workspaces?path={path}").status_code == 200
    assert send(world, "DELETE", f"/api/workspaces?path={path}").status_code == 404


def the_machine_of_a_conversation(world: World) -> None:
    conversation, _ = world.conversation()
    path = f"/api/conversations/{conversation.id}"
    assert send(world, "GET", f"{path}/runtime").json()["runtime_status"] == "available"
    if is_newest:
        workspace = RemoteWorkspace(
            host=world.url,
            api_key=world.key,
            working_dir=str(world.folder),
            runtime_conversation_id=conversation.id,
        )
        assert workspace.execute_command("pwd").stdout == f"{world.folder}\n"
        assert workspace.file_upload(b"inside", world.folder / "inside.txt").success
        assert (world.folder / "inside.txt").read_text() == "inside"
        assert any(str(change.path) == "inside.txt" for change in workspace.git_changes("."))
    outside = send(world, "GET", f"{path}/file/download?path=/etc/hostname")
    assert outside.status_code == 422, outside.text
    conversation.close()


def children(world: World) -> None:
    conversation, _ = world.conversation()
    path = f"/api/conversations/{conversation.id}/children"
    reply = send(world, "POST", path, {"task": "Please greet", "title": "Child", "isolation": "shared"})
    assert reply.status_code == 201, reply.text
    child = f"/api/conversations/{reply.json()['conversation_id']}"
    world.until("the child's end", lambda: send(world, "GET", child).json()["execution_status"] == "finished")
    assert send(world, "GET", child).json()["parent_conversation_id"] == str(conversation.id)
    send(world, "DELETE", child).raise_for_status()
    conversation.close()


def a_sub_agent_with_servers(world: World) -> None:
    definition = AgentDefinition(
        name="helper",
        description="Helps.",
        tools=["terminal"],
        system_prompt="You help.",
        mcp_config={"docs": {"url": "http://127.0.0.1:9/mcp"}},
    )
    body = {
        "agent": world.agent().model_dump(mode="json", context={"expose_secrets": True}),
        "workspace": {"kind": "LocalWorkspace", "working_dir": str(world.folder)},
        "agent_definitions": [definition.model_dump(mode="json")],
    }
    reply = send(world, "POST", "/api/conversations", body)
    assert reply.status_code == 201, reply.text
    send(world, "DELETE", f"/api/conversations/{reply.json()['id']}").raise_for_status()


def the_built_in_agents_and_all_default_tools(world: World) -> None:
    preset = importlib.import_module("openhands.tools.preset.default")
    names = preset.register_builtins_agents()
    assert "web-researcher" in names, names
    tools = preset.get_default_tools(enable_browser=True, enable_sub_agents=True)
    finish = {"type": "object", "properties": {"status": {"type": "string"}}, "required": ["status"]}
    agent = world.agent(
        agent_context=AgentContext(user_message_suffix="Be brief."),
        include_default_tools=["ThinkTool"],
    ).model_copy(update={"tools": [*tools, Tool(name="FinishTool", params={"response_schema": finish})]})
    conversation, _ = world.conversation(agent=agent)
    conversation.send_message("Please use everything")
    conversation.run(timeout=90)
    path = f"/api/conversations/{conversation.id}"
    events = send(world, "GET", f"{path}/events/search?limit=100").json()["items"]
    told = [event["value"] for event in events if event.get("key") == "warning"]
    masked = [one for one in told if one["code"] == "masked_values_empty"]
    assert any("TAVILY_API_KEY" in field for one in masked for field in one["fields"]), told
    # Chromium may not be there; nothing else is missing.
    assert all(one.get("tools", []) in ([], ["browser_tool_set"]) for one in told), told
    done = [event["observation"] for event in events if event["kind"] == "ObservationEvent"]
    assert [one["kind"] for one in done] == [
        "TerminalObservation",
        "FileEditorObservation",
        "TaskTrackerObservation",
        "TaskObservation",
        "FinishObservation",
    ], done
    assert not any(one["is_error"] for one in done), done
    [message] = [event for event in events if event["kind"] == "MessageEvent" and event["source"] == "user"]
    assert [part["text"] for part in message["extended_content"]] == ["Be brief."], message
    [ended] = [event for event in events if event["kind"] == "ActionEvent" and event["tool_name"] == "finish"]
    assert "success" in ended["tool_call"]["arguments"] and "status" not in ended["action"], ended
    # The client can read all of it.
    assert sum(isinstance(event, ObservationEvent) for event in conversation.state.events) == len(done)
    conversation.close()


def a_client_of_the_contract_alone(world: World) -> None:
    folder = world.folder / ".agents" / "skills" / "frob"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "SKILL.md").write_text("---\ndescription: How to frob.\n---\nTurn it twice.\n")
    hooks = {"user_prompt_submit": [{"matcher": "*", "hooks": [{"command": "true"}]}]}
    body = {
        "agent": world.agent().model_dump(mode="json", context={"expose_secrets": True}),
        "workspace": {"kind": "LocalWorkspace", "working_dir": str(world.folder)},
        "hook_config": hooks,
        "initial_message": {"role": "user", "content": [{"type": "text", "text": "Please greet"}], "run": True},
    }
    created = send(world, "POST", "/api/conversations", body)
    assert created.status_code == 201, created.text
    path = f"/api/conversations/{created.json()['id']}"
    world.until("its end", lambda: send(world, "GET", path).json()["execution_status"] == "finished")
    events = send(world, "GET", f"{path}/events/search").json()["items"]
    assert {event["source"] for event in events} <= {"agent", "user", "environment"}
    assert "HookExecutionEvent" not in {event["kind"] for event in events}
    assert [event["value"]["success"] for event in events if event.get("key") == "hook_execution"] == [True]
    [prompt] = [event for event in events if event["kind"] == SystemPromptEvent.__name__]
    assert "InvokeSkillTool" not in {tool["kind"] for tool in prompt["tools"]}
    assert any(event["kind"] == MessageEvent.__name__ for event in events)
    send(world, "DELETE", path).raise_for_status()


scenarios = {
    "cross: the server": the_server,
    "cross: the default preset": the_default_preset,
    "cross: a planning agent": a_planning_agent,
    "cross: two condensations": two_condensations,
    "cross: skills that were loaded": skills_that_were_loaded,
    "cross: an interrupt is seen": an_interrupt_is_seen,
    "cross: models and profiles": models_and_profiles,
    "cross: the gateway": the_gateway,
    "cross: stored workspaces": stored_workspaces,
    "cross: the machine of a conversation": the_machine_of_a_conversation,
    "cross: children": children,
    "cross: a sub-agent with servers": a_sub_agent_with_servers,
    "cross: the built-in agents and all default tools": the_built_in_agents_and_all_default_tools,
    "cross: a client of the contract alone": a_client_of_the_contract_alone,
}
