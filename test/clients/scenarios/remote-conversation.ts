import assert from "node:assert/strict";
import type { ClientWorld } from "../client-world.ts";

type Seen = { readonly id: string; readonly kind: string };

/** One conversation as an object, with its socket. */
export async function remoteConversation(world: ClientWorld): Promise<void> {
  const { record, client } = world;
  const seen: Seen[] = [];
  const workspace = new client.RemoteWorkspace({ ...world.options, workingDir: world.folder });
  await world.write(".openhands/hooks.json", '{"PreToolUse":[{"hooks":[{"command":"true"}]}]}');
  const conversation = record.watch(
    new client.Conversation(world.agent as never, workspace, {
      callback: (event: unknown) => seen.push(event as Seen),
    }),
  );
  const hooks = await conversation.loadHooks();
  assert.ok(hooks !== null);
  await conversation.start({ hookConfig: hooks, maxIterations: 20 });
  assert.ok((await conversation.getHookConfig()) !== null);
  await conversation.startWebSocketClient();
  await world.until("the first frame", () => seen.length > 0);
  await conversation.sendMessage("Please run");
  await conversation.run();
  await world.untilStatus(conversation.id, "finished");
  await world.until("the answer on the socket", () => seen.some(({ kind }) => kind === "ObservationEvent"));
  assert.equal(await conversation.getAgentFinalResponse(), "It ran.");
  await remoteState(world, conversation.state);
  await remoteEvents(conversation.state.events);

  assert.ok(await conversation.conversationStats());
  await conversation.setTitle("Mine");
  assert.equal(await conversation.askAgent("What?"), "Hello.");
  await conversation.updateSecrets({ TOKEN: "canary", LATER: () => "canary" });
  await conversation.setSecurityAnalyzer(null);
  assert.ok((await conversation.downloadTrajectory()).size > 0);
  await conversation.condense();
  await conversation.switchLlm({ ...world.llm, usage_id: "other" });
  await world.server.call("POST", "/api/profiles/quick", { llm: world.llm });
  await conversation.switchProfile("quick");
  await assert.rejects(conversation.switchAcpModel("other"), { status: 400 });

  await conversation.setConfirmationPolicy({ kind: "AlwaysConfirm" });
  await conversation.sendMessage("Please run");
  await conversation.run();
  await world.untilStatus(conversation.id, "waiting_for_confirmation");
  await conversation.sendConfirmationResponse(false, "not now");
  await world.untilStatus(conversation.id, "idle");
  await world.until("the refusal", () => seen.some(({ kind }) => kind === "UserRejectObservation"));

  await conversation.startGoal("Say hello.", 1_000);
  await conversation.stopGoal();
  await world.untilStatus(conversation.id, "finished");
  await conversation.resumeGoal();
  await conversation.stopGoal();
  await world.untilStatus(conversation.id, "finished");

  await conversation.navigateTo(null);

  const asked = world.model.requests.length;
  await conversation.sendMessage({ role: "user", content: [{ type: "text", text: "Please wait" }] } as never);
  await conversation.run();
  await world.until("the model to be asked", () => world.model.requests.length > asked);
  await conversation.pause();
  await world.untilStatus(conversation.id, "paused");

  const fork = await conversation.fork({ title: "Forked" });
  assert.notEqual(fork.id, conversation.id);
  await fork.close();
  await conversation.stopWebSocketClient();
  await conversation.close();
}

/** A socket of its own, with what it says after the end of a run. */
export async function callbackSocket(world: ClientWorld): Promise<void> {
  const { json } = await world.server.call("POST", "/api/conversations", world.startRequest);
  const { id } = json as { id: string };
  const frames: Seen[] = [];
  const errors: Error[] = [];
  const socket = world.record.watch(
    new world.client.WebSocketCallbackClient({
      host: world.server.url,
      apiKey: world.server.key,
      conversationId: id,
      callback: (event) => frames.push(event as unknown as Seen),
      onError: (error) => errors.push(error),
    }),
  );
  socket.start();
  await world.until("the state of the conversation", () => frames.length > 0);
  assert.equal(frames[0]!.kind, "ConversationStateUpdateEvent");
  await world.server.call("POST", `/api/conversations/${id}/events`, {
    role: "user",
    content: [{ type: "text", text: "Hi" }],
    run: true,
  });
  await world.until("both messages", () => frames.filter(({ kind }) => kind === "MessageEvent").length === 2);
  socket.stop();
  assert.deepEqual(errors, []);
}

type Conversation = InstanceType<ClientWorld["client"]["RemoteConversation"]>;

async function remoteState(world: ClientWorld, state: Conversation["state"]): Promise<void> {
  const { RemoteState, HttpClient } = world.client;
  // A new state for each query, because a state caches what it received for two seconds.
  const fresh = (): typeof state => {
    const http = new HttpClient({ baseUrl: world.server.url, apiKey: world.server.key });
    return world.record.watch(new RemoteState(http, state.id));
  };
  assert.equal((await state.refresh()).id, state.id);
  assert.equal(await fresh().getExecutionStatus(), "finished");
  assert.equal(await fresh().getAgentStatus(), "finished");
  assert.ok(await fresh().getConfirmationPolicy());
  assert.deepEqual(await fresh().getActivatedKnowledgeSkills(), []);
  assert.ok(await fresh().getAgent());
  assert.ok(await fresh().getWorkspace());
  assert.equal(typeof (await fresh().getPersistenceDir()), "string");
  assert.equal((await fresh().modelDump()).id, state.id);
  assert.ok((await fresh().modelDumpJson()).includes(state.id));
  const { json } = await world.server.call("GET", `/api/conversations/${state.id}`);
  const event = { kind: "ConversationStateUpdateEvent", key: "__full_state__", value: json };
  state.createStateUpdateCallback()(event as never);
  await state.updateStateFromEvent(event as never);
  await assert.rejects(state.setAgentStatus("paused" as never));
}

async function remoteEvents(events: Conversation["state"]["events"]): Promise<void> {
  const count = await events.count();
  const page = await events.search({ limit: 2, sort_order: "TIMESTAMP" as never });
  assert.equal(page.items.length, 2);
  const rest = await events.search({ page_id: page.next_page_id!, limit: 100 });
  assert.equal(page.items.length + rest.items.length, count);
  const [first] = page.items as [{ id: string }, ...object[]];
  assert.equal((await events.getEventById(first.id)).id, first.id);
  assert.equal((await events.getEventsById([first.id, "nothing"])).length, 2);
  await events.addEvent(first as never);
  await events.append(first as never);
  events.createDefaultCallback()(first as never);
  assert.ok((await events.length()) > 0);
  assert.ok(await events.getEvent(0));
  assert.ok((await events.getEvents()).length >= count);
  const listed = await Array.fromAsync(events as unknown as AsyncIterable<object>);
  assert.ok(listed.length >= count);
}
