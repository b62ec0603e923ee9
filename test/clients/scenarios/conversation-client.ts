import assert from "node:assert/strict";
import type { ClientWorld } from "../client-world.ts";

const words = (text: string) => ({ role: "user", content: [{ type: "text", text }] });
const missing = "00000000-0000-4000-8000-000000000000";

/** Conversations by their ids, as web clients use them. */
export async function conversationClient(world: ClientWorld): Promise<void> {
  const client = world.record.watch(new world.client.ConversationClient(world.options));
  const { id } = await client.createConversation(world.startRequest);
  await client.sendEvent(id, words("Please run"));
  await client.runConversation(id);
  await world.untilStatus(id, "finished");
  assert.equal((await client.getConversation(id)).id, id);
  assert.deepEqual(
    (await client.getConversations([id, missing])).map((found) => found?.id),
    [id, undefined],
  );
  assert.ok((await client.searchConversations({ limit: 1 })).items.length === 1);
  assert.ok((await client.countConversations()) >= 1);
  assert.equal((await client.getAgentFinalResponse(id)).response, "It ran.");

  const page = await client.searchEvents(id, { limit: 100, sort_order: "TIMESTAMP" });
  assert.equal(await client.getEventCount(id), page.items.length);
  assert.equal(await client.getEventCount(id, { kind: "ObservationEvent" }), 1);
  assert.match(JSON.stringify(page.items), /it ran/);
  const first = page.items[0]!.id;
  assert.equal((await client.getEvent(id, first)).id, first);
  assert.deepEqual(
    (await client.getEvents(id, [first, missing])).map((event) => event?.id),
    [first, undefined],
  );

  assert.equal((await client.askAgent(id, "What did you do?")).response, "Hello.");
  await client.updateSecrets(id, { secrets: { TOKEN: { kind: "StaticSecret", value: "canary" } } });
  await client.setSecurityAnalyzer(id, null);
  await client.updateConversation(id, { title: "Named", tags: { team: "a" } });
  assert.equal((await client.getConversation(id)).title, "Named");
  const fork = await client.forkConversation(id, { title: "Forked" }, { includeSkills: false });
  assert.equal(fork.title, "Forked");
  assert.ok((await client.getEventCount(fork.id)) > 0);
  await client.condenseConversation(fork.id);
  await client.switchLLM(fork.id, { ...world.llm, usage_id: "other" });
  await world.server.call("POST", "/api/profiles/quick", { llm: world.llm });
  await client.switchProfile(fork.id, "quick");
  await assert.rejects(client.switchAcpModel(fork.id, "other"), { status: 400 });
  await client.deleteConversation(fork.id);
  await assert.rejects(client.getConversation(fork.id), { status: 404 });

  for (const accept of [false, true]) {
    await client.setConfirmationPolicy(id, { kind: "AlwaysConfirm" });
    await client.sendEvent(id, words("Please run"), { run: true });
    await world.untilStatus(id, "waiting_for_confirmation");
    await client.respondToConfirmation(id, { accept, reason: "as I like" });
    await world.untilStatus(id, accept ? "finished" : "idle");
    const kind = accept ? "ObservationEvent" : "UserRejectObservation";
    assert.equal(await client.getEventCount(id, { kind }), accept ? 2 : 1);
  }
  for (const stop of ["interruptConversation", "pauseConversation"] as const) {
    const asked = world.model.requests.length;
    await client.sendEvent(id, words("Please wait"), { run: true });
    await world.until("the model to be asked", () => world.model.requests.length > asked);
    await client[stop](id);
    await world.untilStatus(id, "paused");
  }
  await client.deleteConversation(id);
  client.close();
}

/** A goal from its start to its end; back to the beginning. */
export async function goalsAndBranches(world: ClientWorld): Promise<void> {
  const client = world.record.watch(new world.client.ConversationClient(world.options));
  const { id } = await client.createConversation(world.startRequest);
  await client.startGoal(id, { objective: "Say hello.", max_iterations: 1_000 });
  await client.stopGoal(id);
  await world.untilStatus(id, "finished");
  await client.resumeGoal(id);
  await client.stopGoal(id);
  await world.untilStatus(id, "finished");
  const moved = await client.navigateConversation(id, { event_id: null });
  assert.equal(moved.leaf_event_id, null);
}
