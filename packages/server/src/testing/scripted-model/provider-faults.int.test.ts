import type { Event, LLM } from "@convoke/protocol";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../start-server.ts";
import { providerFaults, type ProviderFault } from "./provider-faults.ts";
import type { ScriptTurn } from "./script.ts";
import type { WireName } from "./wire.ts";

const routes: Readonly<Record<WireName, { readonly model: string; readonly path: string }>> = {
  "openai-chat": { model: "openai/gpt-4.1", path: "/v1" },
  "openai-responses": { model: "openai_responses/gpt-5", path: "/v1" },
  anthropic: { model: "anthropic/claude-sonnet-4-5", path: "" },
  google: { model: "gemini/gemini-2.5-pro", path: "/v1beta" },
  bedrock: { model: "bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0", path: "" },
};

const faults = providerFaults.map((fault, at) => ({
  ...fault,
  name: `F${String(at + 1).padStart(2, "0")}`,
  title: `${fault.wire ?? "openai-chat"}: ${fault.what}`,
}));

/** Each fault has its own script: a tool call that must survive, the fault, and the end. */
const turns = faults.flatMap(({ name, turn }): ScriptTurn[] => {
  const match = { last_user_contains: `${name}.` };
  return [
    { match, tool_calls: [{ name: "terminal", arguments: { command: `kept ${name}` } }] },
    { match, ...turn },
    { match, text: "done" },
    { match, text: "done" },
    // A refused request is repeated, at last with its history as text: then the end of that is the result.
    { match: { last_user_contains: `kept ${name}` }, ...turn },
  ];
});

describe("P35 P53: faults of providers", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ script: { turns } });
  });
  afterAll(async () => await server[Symbol.asyncDispose]());

  test("there are at least sixty", () => expect(faults.length).toBeGreaterThanOrEqual(60));

  test.concurrent.each(faults)("$name $title", async (fault) => {
    const { id } = await server.createConversation({
      text: `Meet ${fault.name}.`,
      agent: {
        ...server.startRequest().agent,
        llm: llmFor(fault, server.model.url),
        condenser: { kind: "NoOpCondenser" },
      },
    });
    await server.waitForStatus(id, fault.ends === null ? "finished" : "error", 120_000);
    const events = await server.events(id);
    expect(server.quickTools.started.filter((command) => command === `kept ${fault.name}`)).toHaveLength(1);
    expect(kinds(events, "ObservationEvent").length).toBeGreaterThanOrEqual(1);
    expect(waitsOf(events)).toEqual([...fault.waits, ...(fault.waits.length > 0 ? [null] : [])]);
    const errors = kinds(events, "ConversationErrorEvent");
    expect(errors.map((event) => event.code)).toEqual(fault.ends === null ? [] : [fault.ends]);
    for (const { detail } of errors) expect(detail).toMatch(/^[A-Z0-9].{10,}\.\)?$/su);
    expect(JSON.stringify(events)).not.toContain("llm-key");
    expect(unanswered(events)).toEqual([]);
  });
});

function llmFor({ wire = "openai-chat", llm }: ProviderFault, url: string): LLM {
  const { model, path } = routes[wire];
  const waits = { num_retries: 3, retry_min_wait: 0, retry_max_wait: 0, retry_multiplier: 0 };
  return { model, base_url: `${url}${path}`, api_key: "llm-key", ...waits, ...llm };
}

function kinds<Kind extends Event["kind"]>(
  events: readonly Event[],
  kind: Kind,
): Extract<Event, { kind: Kind }>[] {
  return events.filter((event): event is Extract<Event, { kind: Kind }> => event.kind === kind);
}

/** The code of each wait that was shown, and null for the end of the waiting. */
function waitsOf(events: readonly Event[]): (string | null)[] {
  return kinds(events, "ConversationStateUpdateEvent")
    .filter(({ key }) => key === "model_retry")
    .map(({ value }) => (value as { code: string } | null)?.code ?? null);
}

function unanswered(events: readonly Event[]): string[] {
  const answered = new Set(
    events.flatMap((event) =>
      event.kind === "ObservationEvent" || event.kind === "AgentErrorEvent" ? [event.tool_call_id] : [],
    ),
  );
  return kinds(events, "ActionEvent").flatMap(({ tool_call_id: callId }) =>
    answered.has(callId) ? [] : [callId],
  );
}
