import type { Event } from "@convoke/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Script } from "../../../testing/scripted-model/script.ts";
import { startTestServer, type TestServer } from "../../../testing/start-server.ts";

const oneTool: Script = {
  turns: [{ tool_calls: [{ name: "terminal", arguments: { command: "rm it" } }] }, { text: "Done." }],
};

/** The user's message says how risky the model will call its command. */
const ratedTool: Script = {
  turns: ["LOW", "MEDIUM", "HIGH", undefined].flatMap((risk) => {
    const args = { command: "rm it", ...(risk === undefined ? {} : { security_risk: risk }) };
    const match = { last_user_contains: `RISK:${risk ?? "none"}` };
    return [
      { match, tool_calls: [{ name: "terminal", arguments: args }] },
      { match, text: "Done." },
    ];
  }),
};

let rated: TestServer;
beforeAll(async () => {
  rated = await startTestServer({ script: ratedTool });
});
afterAll(() => rated[Symbol.asyncDispose]());

test("W2: a message while waiting never approves; after the rejection it is answered", async () => {
  await using server = await startTestServer({ script: oneTool });
  const id = await server.runTo("waiting_for_confirmation", "go", {
    confirmation_policy: { kind: "AlwaysConfirm" },
  });
  await server.client.sendMessage(id, { content: [{ type: "text", text: "do not do that!" }], run: true });
  expect(await server.client.getConversation(id)).toMatchObject({
    execution_status: "waiting_for_confirmation",
  });
  await server.client.respondToConfirmation(id, false, "too risky");
  await server.waitForStatus(id, "finished");
  expect(server.quickTools.started).toEqual([]);
  const log = await server.events(id);
  expect(log.find(({ kind }) => kind === "UserRejectObservation")).toMatchObject({
    rejection_reason: "too risky",
    rejection_source: "user",
  });
});

test("a rejection alone does not run; a late second answer does nothing", async () => {
  await using server = await startTestServer({ script: oneTool });
  const id = await server.runTo("waiting_for_confirmation", "go", {
    confirmation_policy: { kind: "AlwaysConfirm" },
  });
  await server.client.respondToConfirmation(id, false);
  await server.client.respondToConfirmation(id, false);
  expect(await server.client.getConversation(id)).toMatchObject({ execution_status: "idle" });
  const log = await server.events(id);
  expect(kinds(log).filter((kind) => kind === "UserRejectObservation")).toHaveLength(1);
  expect(server.model.requests).toHaveLength(1);
});

test.each([
  ["NeverConfirm", { kind: "NeverConfirm" }, "HIGH", false],
  ["AlwaysConfirm", { kind: "AlwaysConfirm" }, "LOW", true],
  ["ConfirmRisky, a LOW call", { kind: "ConfirmRisky" }, "LOW", false],
  ["ConfirmRisky, a MEDIUM call", { kind: "ConfirmRisky" }, "MEDIUM", false],
  ["ConfirmRisky, a HIGH call", { kind: "ConfirmRisky" }, "HIGH", true],
  ["ConfirmRisky, an unrated call", { kind: "ConfirmRisky" }, undefined, true],
  [
    "ConfirmRisky without confirm_unknown, an unrated call",
    { kind: "ConfirmRisky", confirm_unknown: false },
    undefined,
    false,
  ],
  ["ConfirmRisky from MEDIUM, a MEDIUM call", { kind: "ConfirmRisky", threshold: "MEDIUM" }, "MEDIUM", true],
] as const)("%s: waits %s", async (_what, policy, risk, waits) => {
  const before = rated.quickTools.started.length;
  await rated.runTo(waits ? "waiting_for_confirmation" : "finished", `RISK:${risk ?? "none"}`, {
    confirmation_policy: policy,
    security_analyzer: { kind: "LLMSecurityAnalyzer" },
  });
  expect(rated.quickTools.started.slice(before)).toEqual(waits ? [] : ["rm it"]);
});

test("a lone finish or think never asks, a read-only tool is LOW", async () => {
  const script = {
    turns: [
      { tool_calls: [{ name: "think", arguments: { thought: "hm" } }] },
      { tool_calls: [{ name: "grep", arguments: { pattern: "x" } }] },
      { tool_calls: [{ name: "finish", arguments: { message: "Done." } }] },
    ],
  };
  await using server = await startTestServer({ script });
  const id = await server.runTo("waiting_for_confirmation", "go", {
    confirmation_policy: { kind: "AlwaysConfirm" },
  });
  await server.client.respondToConfirmation(id, true);
  await server.waitForStatus(id, "finished");
  const actions = (await server.events(id)).filter((event) => event.kind === "ActionEvent");
  expect(actions.map((event) => [event.tool_name, event.security_risk])).toEqual([
    ["think", "LOW"],
    ["grep", "LOW"],
    ["finish", "LOW"],
  ]);
  expect(statuses(await server.events(id))).toEqual([
    "running",
    "waiting_for_confirmation",
    "running",
    "finished",
  ]);
});

function kinds(events: readonly Event[]): string[] {
  return events.map(({ kind }) => kind);
}

function statuses(events: readonly Event[]): unknown[] {
  return events.flatMap((event) =>
    event.kind === "ConversationStateUpdateEvent" && event.key === "execution_status" ? [event.value] : [],
  );
}
