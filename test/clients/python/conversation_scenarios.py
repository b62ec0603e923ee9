"""One conversation as the SDK's RemoteConversation, over REST and its socket."""

import threading
import time
import uuid

from openhands.sdk import Message, TextContent
from openhands.sdk.context.condenser import LLMSummarizingCondenser
from openhands.sdk.conversation.exceptions import ConversationRunError
from openhands.sdk.conversation.impl.remote_conversation import (
    RemoteConversation,
    RemoteState,
    WebSocketCallbackClient,
)
from openhands.sdk.conversation.request import StartConversationRequest
from openhands.sdk.conversation.state import ConversationExecutionStatus as Status
from openhands.sdk.event import ActionEvent, AgentErrorEvent, MessageEvent, ObservationEvent, UserRejectObservation
from openhands.sdk.hooks import HookConfig
from openhands.sdk.secret import LookupSecret, StaticSecret
from openhands.sdk.security.confirmation_policy import AlwaysConfirm, ConfirmRisky, NeverConfirm
from openhands.sdk.security.llm_analyzer import LLMSecurityAnalyzer
from openhands.sdk.workspace import LocalWorkspace, RemoteWorkspace
from openhands.tools.terminal import TerminalObservation

from cut_proxy import CutProxy
from world import Seen, World, refused


def message_and_run(world: World) -> None:
    conversation, seen = world.conversation(tags={"team": "one"}, max_iteration_per_run=20)
    assert conversation.state.execution_status is Status.IDLE
    conversation.send_message("Please run", sender="ada")
    conversation.run(timeout=30)
    assert conversation.state.execution_status is Status.FINISHED
    observation = next(event for event in conversation.state.events if isinstance(event, ObservationEvent))
    assert isinstance(observation.observation, TerminalObservation)
    assert "it ran" in observation.observation.text, observation
    action = next(event for event in conversation.state.events if isinstance(event, ActionEvent))
    assert action.summary == "print a line"
    asked = next(event for event in conversation.state.events if isinstance(event, MessageEvent))
    assert asked.sender == "ada" and asked.source == "user"
    # The socket said the same, in the same order, each event once.
    told = [event.id for event in seen.events]
    assert len(told) == len(set(told))
    listed = world.get(f"/api/conversations/{conversation.id}/events/search").json()["items"]
    ids = [event["id"] for event in listed]
    assert [id for id in told if id in set(ids)] == ids
    conversation.close()
    assert world.get(f"/api/conversations/{conversation.id}").status_code == 404


def every_tool(world: World) -> None:
    conversation, _ = world.conversation(agent=world.agent("terminal", "file_editor", "task_tracker"))
    conversation.send_message(Message(role="user", content=[TextContent(text="Please write")]))
    conversation.run(timeout=30)
    tools = [event.tool_name for event in conversation.state.events if isinstance(event, ObservationEvent)]
    errors = [event.error for event in conversation.state.events if isinstance(event, AgentErrorEvent)]
    assert sorted(tools) == ["file_editor", "task_tracker", "think"], (tools, errors)
    assert (world.folder / "written.txt").read_text() == "by the agent\n"
    conversation.close()


def state_reads(world: World) -> None:
    hooks = HookConfig.model_validate({"PreToolUse": [{"matcher": "*", "hooks": [{"command": "true"}]}]})
    conversation, _ = world.conversation(
        delete_on_close=False, hook_config=hooks, secrets={"TOKEN": "canary-4711"}
    )
    conversation.send_message("Please run")
    conversation.run(timeout=30)
    fresh = RemoteState(conversation._client, str(conversation.id))
    for state in (conversation.state, fresh):
        assert state.id == conversation.id
        assert state.execution_status is Status.FINISHED
        assert isinstance(state.confirmation_policy, NeverConfirm)
        assert state.security_analyzer is None
        assert state.activated_knowledge_skills == []
        assert state.invoked_skills == []
        assert state.agent.llm.model == "openai/scripted"
        assert state.workspace["working_dir"] == str(world.folder)
        usage = state.stats.get_combined_metrics().accumulated_token_usage
        assert usage is not None and usage.prompt_tokens > 0
        assert state.hook_config is not None and len(state.hook_config.pre_tool_use) == 1
        assert list(state.secret_registry.secret_sources) == ["TOKEN"]
        assert "canary-4711" not in state.model_dump_json()
        assert "llm-key" not in state.model_dump_json()
    assert isinstance(fresh.persistence_dir, str)
    assert conversation.conversation_stats.get_combined_metrics().accumulated_cost == 0
    assert fresh.refresh_from_server()["id"] == str(conversation.id)
    assert fresh.events.reconcile() == 0
    # The client also keeps the frames that only its socket gets.
    kept = [event.id for event in conversation.state.events]
    assert [id for id in kept if id in {event.id for event in fresh.events}] == [e.id for e in fresh.events]
    assert len(fresh.events) > 5
    assert [event.id for event in fresh.events[:3]] == [event.id for event in list(fresh.events)[:3]]
    fresh.events.append(fresh.events[0])
    assert conversation.cleanup_initiated is False and conversation.cleanup_complete is False
    assert conversation.confirmation_policy_active is False
    assert conversation.is_confirmation_mode_active is False
    assert conversation.hook_processor is None
    assert RemoteConversation.get_persistence_dir("/base", conversation.id).startswith("/base")
    conversation.close()
    assert conversation.cleanup_initiated is True and conversation.cleanup_complete is True
    assert world.get(f"/api/conversations/{conversation.id}").status_code == 200


def confirmation(world: World) -> None:
    conversation, seen = world.conversation()
    conversation.set_security_analyzer(LLMSecurityAnalyzer())
    conversation.set_confirmation_policy(AlwaysConfirm())
    world.until("the policy", lambda: isinstance(conversation.state.confirmation_policy, AlwaysConfirm))
    world.until("the analyzer", lambda: isinstance(conversation.state.security_analyzer, LLMSecurityAnalyzer))
    assert conversation.confirmation_policy_active is True
    assert conversation.is_confirmation_mode_active is True
    conversation.send_message("Please run")
    conversation.run(timeout=30)
    assert conversation.state.execution_status is Status.WAITING_FOR_CONFIRMATION
    assert "ObservationEvent" not in seen.kinds()
    action = next(event for event in seen.events if isinstance(event, ActionEvent))
    assert action.security_risk.value == "LOW"
    conversation.reject_pending_actions("not now")
    seen.wait_for("UserRejectObservation")
    rejection = next(event for event in seen.events if isinstance(event, UserRejectObservation))
    assert rejection.rejection_reason == "not now"
    world.until_status(conversation, "idle")

    # Asked again, and accepted: running on is the consent.
    conversation.send_message("Please run")
    conversation.run(timeout=30)
    assert conversation.state.execution_status is Status.WAITING_FOR_CONFIRMATION
    conversation.run(timeout=30)
    seen.wait_for("ObservationEvent")
    while conversation.state.execution_status is Status.WAITING_FOR_CONFIRMATION:
        conversation.run(timeout=30)
    assert conversation.state.execution_status is Status.FINISHED

    # Only what is risky is asked about.
    conversation.set_confirmation_policy(ConfirmRisky())
    conversation.send_message("Please run")
    conversation.run(timeout=30)
    assert conversation.state.execution_status is Status.FINISHED
    conversation.set_security_analyzer(None)
    conversation.close()


def pause_and_interrupt(world: World) -> None:
    conversation, seen = world.conversation()
    for stop, kind in ((conversation.pause, "PauseEvent"), (conversation.interrupt, "InterruptEvent")):
        conversation.send_message("Please wait")
        conversation.run(blocking=False)
        world.until_status(conversation, "running")
        # A second run is told that one is under way.
        conversation.run(blocking=False)
        stop()
        seen.wait_for(kind)
        world.until_status(conversation, "paused")
    # A run that is waited for ends when somebody else pauses it.
    conversation.send_message("Please wait")
    runner = threading.Thread(target=conversation.run, kwargs={"timeout": 30})
    runner.start()
    time.sleep(1)
    conversation.pause()
    runner.join(timeout=20)
    assert not runner.is_alive()
    assert conversation.state.execution_status is Status.PAUSED
    # And goes on from there.
    conversation.send_message("Please run")
    conversation.run(timeout=30)
    assert conversation.state.execution_status is Status.FINISHED
    conversation.close()


def failing_model(world: World) -> None:
    conversation, _ = world.conversation()
    conversation.send_message("Please fail")
    try:
        conversation.run(timeout=30)
        raise AssertionError("the run did not fail")
    except ConversationRunError as error:
        assert error.conversation_error is not None
        assert "no such thing" in error.conversation_error.detail
    assert conversation.state.execution_status is Status.ERROR
    conversation.close()


def secrets(world: World) -> None:
    conversation, _ = world.conversation(secrets={"TOKEN": "canary-4711"})
    conversation.update_secrets({"LATER": lambda: "canary-later", "TYPED": StaticSecret(value="canary-typed")})
    url = f"{world.url}/api/settings/secrets/STORED"
    world.call("PUT", "/api/settings/secrets", {"name": "STORED", "value": "canary-stored"})
    conversation.update_secrets({"STORED": LookupSecret(url=url, headers={"X-Session-API-Key": world.key})})
    conversation.send_message("Please tell")
    conversation.run(timeout=30)
    observation = next(event for event in conversation.state.events if isinstance(event, ObservationEvent))
    assert "token=<secret-hidden> later=<secret-hidden>" in observation.observation.text, observation
    assert "canary" not in world.get(f"/api/conversations/{conversation.id}/events/search").text
    assert "canary" not in conversation.state.refresh_from_server().__repr__()
    conversation.close()


def questions_and_titles(world: World) -> None:
    conversation, _ = world.conversation()
    conversation.send_message("Hi")
    conversation.run(timeout=30)
    messages = f"/api/conversations/{conversation.id}/events/count?kind=MessageEvent"
    assert conversation.ask_agent("What?") == "Hello."
    assert world.get(messages).json() == 2
    conversation.set_title("Mine")
    assert world.get(f"/api/conversations/{conversation.id}").json()["title"] == "Mine"
    # The SDK asks the model itself.
    assert conversation.generate_title(llm=world.llm, max_length=40) == "Hello."
    conversation.close()


def condensing(world: World) -> None:
    condenser = LLMSummarizingCondenser(llm=world.llm, max_size=12, keep_first=1)
    conversation, seen = world.conversation(agent=world.agent(condenser=condenser))
    for _ in range(3):
        conversation.send_message("Please run")
        conversation.run(timeout=30)
    conversation.condense()
    seen.wait_for("Condensation")
    conversation.close()


def fork(world: World) -> None:
    conversation, _ = world.conversation()
    conversation.send_message("Please run")
    conversation.run(timeout=30)
    copy = conversation.fork(title="Copy", tags={"of": "first"})
    assert copy.id != conversation.id
    assert [event.id for event in conversation.state.events if isinstance(event, ActionEvent)] == [
        event.id for event in copy.state.events if isinstance(event, ActionEvent)
    ]
    first = next(event for event in conversation.state.events if isinstance(event, MessageEvent))
    branch = conversation.fork(conversation_id=uuid.uuid4(), from_event_id=first.id, reset_metrics=False)
    assert not any(isinstance(event, ActionEvent) for event in branch.state.events)
    copy.send_message("Please run")
    copy.run(timeout=30)
    assert copy.state.execution_status is Status.FINISHED
    conversation.navigate_to(first.id)
    assert conversation.state.execution_status is Status.IDLE
    refused(404, lambda: conversation.navigate_to("absent"))
    for each in (branch, copy, conversation):
        each.close()
    refused(404, lambda: conversation.fork(from_event_id="absent"))


def resume(world: World) -> None:
    first, _ = world.conversation(delete_on_close=False)
    first.send_message("Please run")
    first.run(timeout=30)
    first.close()

    again, seen = world.conversation(conversation_id=first.id)
    assert again.id == first.id
    listed = world.get(f"/api/conversations/{first.id}/events/search").json()["items"]
    ids = {event.id for event in again.state.events}
    assert all(event["id"] in ids for event in listed)
    again.send_message("Please run")
    again.run(timeout=30)
    assert seen.kinds().count("ObservationEvent") == 2

    attached = RemoteConversation.attach(world.workspace(), first.id, visualizer=None)
    assert attached.state.execution_status is Status.FINISHED
    assert attached.agent.tools == again.agent.tools
    assert attached.max_iteration_per_run == 500
    attached.close()
    again.close()

    # An id of the client's own choice.
    chosen = uuid.uuid4()
    conversation, _ = world.conversation(conversation_id=chosen)
    assert conversation.id == chosen
    conversation.close()
    refused(404, lambda: RemoteConversation.attach(world.workspace(), uuid.uuid4()))


def create_from_request(world: World) -> None:
    request = StartConversationRequest(
        agent=world.agent(),
        workspace=LocalWorkspace(working_dir=str(world.folder)),
        tags={"by": "request"},
    )
    seen = Seen()
    conversation = RemoteConversation.create(world.workspace(), request, callbacks=[seen], visualizer=None)
    conversation.send_message("Please run")
    conversation.run(timeout=30)
    assert world.get(f"/api/conversations/{conversation.id}").json()["tags"] == {"by": "request"}
    assert "ObservationEvent" in seen.kinds()
    conversation.delete_on_close = True
    conversation.close()


def streaming(world: World) -> None:
    deltas: list[str] = []
    agent = world.agent().model_copy(update={"llm": world.llm.model_copy(update={"stream": True})})
    conversation, _ = world.conversation(
        agent=agent, token_callbacks=[lambda chunk: deltas.append(chunk.choices[0].delta.content or "")]
    )
    conversation.send_message("Hi")
    conversation.run(timeout=30)
    world.until("the whole answer in pieces", lambda: "Hello." in "".join(deltas))
    conversation.close()


def socket_alone(world: World) -> None:
    conversation, _ = world.conversation()
    seen = Seen()
    socket = WebSocketCallbackClient(world.url, str(conversation.id), seen, api_key=world.key)
    socket.start()
    assert socket.wait_until_ready(timeout=20)
    assert seen.kinds()[0] == "ConversationStateUpdateEvent"
    conversation.send_message("Hi")
    conversation.run(timeout=30)
    seen.wait_for("MessageEvent", 2)
    socket.stop()
    # A wrong key and a conversation that is not there end a socket for good instead of being tried for ever.
    for id, key in ((str(conversation.id), "wrong"), (str(uuid.uuid4()), world.key)):
        hopeless = WebSocketCallbackClient(world.url, id, Seen(), api_key=key)
        hopeless.start()
        assert hopeless.wait_until_ready(timeout=20) is False
        assert hopeless._stop.is_set()
        hopeless.stop()
    conversation.close()


def broken_network(world: World) -> None:
    """What happens while a client is cut off comes to its callbacks afterwards: all of it, each event once."""
    proxy = CutProxy(world.url)
    workspace = RemoteWorkspace(host=proxy.url, api_key=world.key, working_dir=str(world.folder))
    conversation, seen = world.conversation(workspace=workspace)
    try:
        conversation.send_message("Please run")
        proxy.cut()
        # Somebody else goes on with it.
        world.call("POST", f"/api/conversations/{conversation.id}/run", None)
        path = f"/api/conversations/{conversation.id}"
        world.until("the run", lambda: world.get(path).json()["execution_status"] == "finished")
        assert "ObservationEvent" not in seen.kinds()
        proxy.mend()
        seen.wait_for("ObservationEvent", 2)
        world.until_status(conversation, "finished")
        conversation.send_message("Please run")
        conversation.run(timeout=30)
        listed = [event["id"] for event in world.get(f"{path}/events/search").json()["items"]]
        told = [event.id for event in seen.events]
        assert sorted(id for id in told if id in set(listed)) == sorted(listed)
        conversation.close()
    finally:
        proxy.close()


def plugins(world: World) -> None:
    plugin = world.folder / "late-plugin"
    (plugin / ".plugin").mkdir(parents=True)
    (plugin / ".plugin" / "plugin.json").write_text('{"name": "late-plugin", "version": "1.0.0"}')
    conversation, _ = world.conversation()
    conversation.send_message("Hi")
    conversation.run(timeout=30)
    conversation.load_plugin(str(plugin))
    refused(422, lambda: conversation.load_plugin("x@y"))
    conversation.close()


def not_there(world: World) -> None:
    """What the remote conversation offers and the SDK itself does not have."""
    conversation, _ = world.conversation()
    conversation.send_message("Hi")
    conversation.run(timeout=30)
    for call in (
        lambda: conversation.stuck_detector,
        lambda: conversation.execute_tool("terminal", None),
    ):
        try:
            call()
            raise AssertionError("the SDK has it now")
        except NotImplementedError:
            pass
    conversation.close()


scenarios = {
    "a message, a run, its events": message_and_run,
    "every tool": every_tool,
    "reading the state": state_reads,
    "confirmation": confirmation,
    "pause and interrupt": pause_and_interrupt,
    "a model that fails": failing_model,
    "secrets of a conversation": secrets,
    "questions and titles": questions_and_titles,
    "condensing": condensing,
    "forks": fork,
    "coming back by id": resume,
    "a start request": create_from_request,
    "streamed answers": streaming,
    "a socket alone": socket_alone,
    "a broken network": broken_network,
    "a plugin that is loaded later": plugins,
    "what is not there": not_there,
}
