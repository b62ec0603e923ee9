import assert from "node:assert/strict";
import type { ClientWorld } from "../client-world.ts";

const missing = "00000000-0000-4000-8000-000000000000";

/** The list of conversations, in both of the client's forms. */
export async function conversationManager(world: ClientWorld): Promise<void> {
  const manager = world.record.watch(new world.client.ConversationManager(world.options));
  const place = { workingDir: world.folder };
  const created = await manager.createConversation(world.agent, {
    ...place,
    initialMessage: "Please run",
  });
  const { id } = created;
  await world.untilStatus(id, "finished");
  assert.equal((await manager.loadConversation(id, world.folder)).id, id);
  assert.equal((await manager.getConversation(id)).id, id);
  assert.equal((await manager.getConversations([id, missing])).length, 2);
  assert.ok((await manager.searchConversations({ limit: 5 })).items.some((found) => found.id === id));
  assert.ok((await manager.getAllConversations()).some((found) => found.id === id));
  assert.ok((await manager.countConversations()) > 0);
  await manager.updateConversation(id, { title: "Renamed", tags: { team: "b" } });
  const tagged = await manager.searchConversations({ tag: ["team=b"] });
  assert.ok(tagged.items.some((found) => found.id === id));
  await world.server.call("POST", "/api/profiles/quick", { llm: world.llm });
  await manager.switchProfile(id, "quick");

  // The client's forms for ACP agents differ in their types alone.
  const acp = await manager.createACPConversation(world.agent, place);
  assert.equal((await manager.getACPConversation(acp.id)).id, acp.id);
  assert.equal((await manager.getACPConversations([acp.id])).length, 1);
  assert.ok((await manager.searchACPConversations()).items.length > 0);
  assert.ok((await manager.getAllACPConversations()).some((found) => found.id === acp.id));
  assert.ok((await manager.countACPConversations()) > 0);
  await manager.deleteConversation(acp.id);
  await manager.deleteConversation(id);
  await assert.rejects(manager.getConversation(id), { status: 404 });
  manager.close();
}
