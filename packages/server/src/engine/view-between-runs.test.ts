import fc from "fast-check";
import { expect, test } from "vitest";
import { AgentRequests, withRequestMeta, type PreparedRequest } from "../agent/agent-requests.ts";
import { condensedView, idInLog } from "../agent/history-view.ts";
import { environmentMessage } from "../agent/receive.ts";
import type { EventDraft } from "../events/event-draft.ts";
import { sampleConversation } from "../journal/sample-events.ts";
import { MemoryLog, openMemoryJournal } from "../testing/interleaving/memory-journal.ts";
import { decideDequeue } from "./commands/queue.ts";
import { decideNavigation } from "./commands/navigate.ts";
import { ConversationLog } from "./conversation-log.ts";
import { condensedDrafts } from "./run/condense-now.ts";

/** What happens in a log between requests; `at` chooses among what is there. */
const steps = fc.array(
  fc.record({
    what: fc.oneof(
      { weight: 8, arbitrary: fc.constantFrom("turn" as const, "answer" as const) },
      { weight: 3, arbitrary: fc.constantFrom("message" as const, "words" as const, "reminder" as const) },
      { weight: 2, arbitrary: fc.constantFrom("condense" as const, "navigate" as const) },
      { weight: 1, arbitrary: fc.constantFrom("take back" as const, "repair" as const, "error" as const) },
    ),
    at: fc.nat({ max: 999 }),
  }),
  { minLength: 10, maxLength: 60 },
);
type Step = typeof steps extends fc.Arbitrary<readonly (infer Value)[]> ? Value : never;

test("issue 13.2, P59: a view that is kept between runs gives the very request that a view which is read again gives", async () => {
  let continued = 0;
  await fc.assert(
    fc.asyncProperty(steps, async (taken) => {
      const memory = new MemoryLog(sampleConversation("c"));
      const journal = openMemoryJournal(memory, async (write) => write());
      let nowMs = 1_700_000_000_000;
      const deps = { journal, lease: memory.claim(), clock: { nowMs: () => (nowMs += 1) } };
      const log = await ConversationLog.open(deps, memory.row);
      log.mask = (json) => json.replaceAll("secret", "<hidden>");
      const requests = new WeakMap<readonly unknown[], AgentRequests>();
      for (const step of taken) {
        const view = await log.view();
        if (requests.has(view)) continued += 1;
        else requests.set(view, new AgentRequests());
        const reused = prepare(requests.get(view)!, view, log);
        const other = await ConversationLog.open(deps, memory.row);
        const rebuilt = prepare(new AgentRequests(), await other.view(), other);
        expect(comparable(reused)).toEqual(comparable(rebuilt));
        await log.append(await happens(step, log, reused));
      }
    }),
    { numRuns: 60 },
  );
  expect(continued).toBeGreaterThan(500);
});

function prepare(
  requests: AgentRequests,
  view: Parameters<typeof condensedView>[0],
  { state }: ConversationLog,
): PreparedRequest {
  const input = { view, sawSeq: state.lastSeq, tools: [], asksForRisk: false };
  return requests.prepare({ ...input, model: "model", cacheKey: "c" });
}

function comparable({ request, meta, condensed, tokens, calibration }: PreparedRequest): unknown {
  const events = condensed.map(({ seq, event }) => ({ seq, event }));
  return JSON.parse(JSON.stringify({ request, meta, events, tokens, calibration }));
}

let calls = 0;

async function happens(
  { what, at }: Step,
  log: ConversationLog,
  prepared: PreparedRequest,
): Promise<readonly EventDraft[]> {
  const { openActions, queued, lastSeq } = log.state;
  const open = openActions[at % Math.max(1, openActions.length)];
  switch (what) {
    case "turn": {
      const responseId = `response_${(calls += 1)}`;
      const drafts = Array.from({ length: 1 + (at % 3) }, () => action(responseId));
      const meta = { ...prepared.meta, request: { ...prepared.meta.request!, sawSeq: lastSeq } };
      return withRequestMeta(
        drafts.map((draft, index) => (index === 0 ? { ...draft, meta: { sawSeq: lastSeq } } : draft)),
        meta,
        at,
      );
    }
    case "answer":
      return open === undefined ? [message("user")] : [observation(open)];
    case "error":
      return open === undefined ? [] : [failure(open)];
    case "message":
      return [message("user")];
    case "words":
      return [{ ...message("agent"), meta: { sawSeq: lastSeq } }];
    case "reminder":
      return [environmentMessage(`Think of the secret ${at}.`)];
    case "condense":
      return await condensation(log, at);
    case "navigate": {
      const events = await log.wholeView();
      const target = at < 50 ? null : events[at % Math.max(1, events.length)];
      return target === undefined ? [] : (await decideNavigation(log, target?.event.id ?? null)).drafts;
    }
    case "take back": {
      const waiting = queued.find(({ isFromUser }) => isFromUser);
      return waiting === undefined ? [] : decideDequeue(log.state, waiting.id, 0, true).drafts;
    }
    case "repair": {
      const messages = (await log.view()).filter(({ event }) => event.kind === "MessageEvent");
      const repaired = messages.slice(at % Math.max(1, messages.length)).map(({ event }) => event.id!);
      return repaired.length === 0 ? [] : [environmentMessage("It was repaired.", { repaired })];
    }
  }
}

async function condensation(log: ConversationLog, at: number): Promise<readonly EventDraft[]> {
  const view = condensedView(await log.view());
  const leaving = view.filter(
    ({ event }, index) => event.kind === "CondensationSummaryEvent" || (index * 7 + at) % 3 === 0,
  );
  if (leaving.length === 0) return [];
  const ids = leaving.map(({ event }) => idInLog(event));
  const offset = view.indexOf(leaving[0]!);
  return await condensedDrafts(
    {
      body: {
        kind: "Condensation",
        source: "environment",
        forgotten_event_ids: ids,
        summary: "What was, with a secret.",
        summary_offset: offset,
        llm_response_id: "none",
      },
    },
    log,
  );
}

function message(source: "user" | "agent"): EventDraft {
  const role = source === "user" ? "user" : "assistant";
  const content = [{ type: "text" as const, text: "Words and a secret.", cache_prompt: false }];
  return { body: { kind: "MessageEvent", source, llm_message: { role, content, thinking_blocks: [] } } };
}

function action(responseId: string): EventDraft {
  const id = `call_${(calls += 1)}`;
  const text = { type: "text" as const, text: "I look for the secret.", cache_prompt: false };
  return {
    body: {
      kind: "ActionEvent",
      source: "agent",
      thought: [text],
      thinking_blocks: [],
      action: { kind: "TerminalAction", command: `echo ${calls} secret` },
      tool_name: "terminal",
      tool_call_id: id,
      tool_call: {
        id,
        name: "terminal",
        arguments: `{"command":"echo ${calls} secret"}`,
        origin: "completion",
      },
      llm_response_id: responseId,
      security_risk: "UNKNOWN",
    },
  };
}

type Open = ConversationLog["state"]["openActions"][number];

function observation({ id, toolCallId, toolName }: Open): EventDraft {
  const content = [{ type: "text" as const, text: `secret ${toolCallId}`, cache_prompt: false }];
  return {
    body: {
      kind: "ObservationEvent",
      source: "environment",
      tool_name: toolName,
      tool_call_id: toolCallId,
      action_id: id,
      observation: {
        kind: "TerminalObservation",
        content,
        is_error: false,
        command: "echo",
        exit_code: 0,
        timeout: false,
      },
    },
  };
}

function failure({ id, toolCallId, toolName }: Open): EventDraft {
  const body = {
    kind: "AgentErrorEvent",
    source: "agent",
    error: "It failed.",
    tool_name: toolName,
  } as const;
  return { body: { ...body, tool_call_id: toolCallId }, meta: { answers: id } };
}
