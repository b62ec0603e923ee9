import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findBubblewrap } from "../../../sandboxes/find-bubblewrap.ts";
import { startTestServer } from "../../../testing/start-server.ts";
import { withWalls } from "../../../testing/walled-server.ts";

const probe = await findBubblewrap({
  self: { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 },
  unprivileged: { uid: 65_534, gid: 65_534 },
  environment: process.env,
});

/** An agent without a library, because a wall shows the folder of the conversation only: it says what it sees. */
const program = `
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
const write = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
let prompt = null;
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params, result } = JSON.parse(line);
  if (method === "initialize") write({ id, result: { protocolVersion: 1 } });
  if (method === "session/new") write({ id, result: { sessionId: "one" } });
  if (method === "session/prompt") {
    prompt = { id, path: params.prompt[0].text };
    const toolCall = { toolCallId: "c1", title: "Look", kind: "read" };
    const options = [{ optionId: "yes", name: "Yes", kind: "allow_once" }];
    write({ id: 900, method: "session/request_permission", params: { sessionId: "one", toolCall, options } });
  }
  if (id === 900) {
    const text = [result.outcome.optionId, existsSync(prompt.path), existsSync("agent.mjs"), process.env.TOKEN].join(" ");
    const update = { sessionUpdate: "agent_message_chunk", content: { type: "text", text } };
    write({ method: "session/update", params: { sessionId: "one", update } });
    write({ id: prompt.id, result: { stopReason: "end_turn" } });
  }
}
`;

test.skipIf(!probe.isUsable)(
  `another agent works in the wall of its conversation (needs a working bubblewrap: ${probe.detail})`,
  { timeout: 120_000 },
  async () => {
    const outside = await mkdtemp(join(tmpdir(), "convoke-outside-"));
    await using _ = { [Symbol.asyncDispose]: () => rm(outside, { recursive: true }) };
    await using server = await startTestServer({
      ...withWalls(),
      environment: { PATH: process.env["PATH"] ?? "" },
    });
    await writeFile(join(outside, "secret.txt"), "");
    await writeFile(join(server.workspaceDir, "agent.mjs"), program);
    const { workspace } = server.startRequest();
    const { json, status, text } = await server.call("POST", "/api/conversations", {
      agent: { kind: "ACPAgent", acp_command: "node agent.mjs" },
      workspace,
      secrets: { TOKEN: { kind: "StaticSecret", value: "the-value-of-it" } },
      initial_message: { content: [{ type: "text", text: join(outside, "secret.txt") }], run: true },
    });
    expect(status, text).toBe(201);
    const { id } = json as { id: string };
    await server.waitForStatus(id, "finished");
    const events = await server.eventTexts(id);
    // The value of a secret is hidden in everything that the agent says.
    expect(events.find((event) => event.includes("yes false true"))).toContain("<secret-hidden>");
    expect(events.join()).not.toContain("the-value-of-it");
  },
);
