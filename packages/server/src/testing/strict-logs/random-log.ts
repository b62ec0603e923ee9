import type { Action, ImageContent, Observation, TextContent } from "@convoke/protocol";
import { stampDrafts, type EventBody, type EventDraft, type EventMeta } from "../../events/event-draft.ts";
import { sampleConversation } from "../../journal/sample-events.ts";
import { MemoryLog } from "../interleaving/memory-journal.ts";
import type { Random } from "../random.ts";
import { oddArguments, oddId, oddImage, oddName, oddText, oneOf } from "./odd-items.ts";

/** A random log of a conversation: with content that no provider accepts, and content that only one does. */
export function randomLog(random: Random): MemoryLog {
  const log = new MemoryLog(sampleConversation("c"));
  const lease = log.claim();
  const drafts = Array.from({ length: 1 + random.whole(6) }, (_, turn) => randomTurn(random, turn)).flat();
  const stamped = stampDrafts(
    drafts,
    { lastSeq: 0, lastId: null, lastMicros: 0 },
    1_700_000_000_000,
    (text) => text,
  );
  log.write(lease, { expectedSeq: 0, events: stamped.map(({ record }) => record) });
  return log;
}

function randomTurn(random: Random, turn: number): EventDraft[] {
  const user = message(random, "user");
  const seen = { ...foreignSeals(random) };
  return random.whole(3) === 0
    ? [user, answerDraft(random, seen)]
    : [user, ...calls(random, `r${turn}`, seen)];
}

function message(random: Random, source: "user" | "environment"): EventDraft {
  return {
    body: {
      kind: "MessageEvent",
      source,
      llm_message: { role: "user", content: contents(random), thinking_blocks: [] },
      activated_skills: [],
      extended_content:
        random.whole(4) === 0 ? [{ type: "text", text: oddText(random), cache_prompt: false }] : [],
    },
  };
}

/** Reasoning of another provider, encrypted for itself. */
function foreignSeals(random: Random): Seals {
  const isThought = random.whole(2) === 0;
  const wires = ["google", "openai-responses", "openai-chat", "bedrock"];
  return {
    reasoning: isThought ? oddText(random) : null,
    blocks: isThought
      ? oneOf(random, [
          [
            {
              type: "thinking",
              thinking: oddText(random),
              signature: oneOf(random, ["c2VhbA==", null, "x"]),
            },
          ],
          [{ type: "redacted_thinking", data: "c2VhbGVk" }],
          [],
        ] as const)
      : [],
    meta:
      random.whole(2) === 0
        ? {
            replay: {
              wire: oneOf(random, wires),
              host: oneOf(random, ["127.0.0.1", "example.org"]),
              items: [{ type: "reasoning" }, { odd: 1 }, null],
            },
          }
        : {},
  };
}

type Seals = {
  readonly reasoning: string | null;
  readonly blocks: readonly (
    | { readonly type: "thinking"; readonly thinking: string; readonly signature: string | null }
    | { readonly type: "redacted_thinking"; readonly data: string }
  )[];
  readonly meta: EventMeta;
};

function answerDraft(random: Random, { reasoning, blocks, meta }: Seals): EventDraft {
  const body: EventBody = {
    kind: "MessageEvent",
    source: "agent",
    llm_message: {
      role: "assistant",
      content: [{ type: "text", text: oddText(random), cache_prompt: false }],
      thinking_blocks: [...blocks],
      ...(reasoning === null ? {} : { reasoning_content: reasoning }),
    },
    llm_response_id: `said_${random.whole(1e9)}`,
    activated_skills: [],
    extended_content: [],
  };
  return { body, meta };
}

/** An answer with calls: some are answered, some by an error, some not at all. */
function calls(random: Random, responseId: string, { reasoning, blocks, meta }: Seals): EventDraft[] {
  return Array.from({ length: 1 + random.whole(3) }, (_, index): EventDraft[] => {
    const isKnown = random.whole(2) === 0;
    const [id, name] = [oddId(random), isKnown ? "terminal" : oddName(random)];
    const action: Action = { kind: "TerminalAction", command: "ls" };
    const body: EventBody = {
      kind: "ActionEvent",
      source: "agent",
      thought: index === 0 ? [{ type: "text", text: oddText(random), cache_prompt: false }] : [],
      ...(index === 0 && reasoning !== null ? { reasoning_content: reasoning } : {}),
      thinking_blocks: index === 0 ? [...blocks] : [],
      ...(isKnown ? { action } : {}),
      tool_name: name,
      tool_call_id: id,
      tool_call: { id, name, arguments: oddArguments(random), origin: "completion" },
      llm_response_id: responseId,
      security_risk: "UNKNOWN",
      ...(isKnown ? { summary: "ls" } : {}),
    };
    const call: EventDraft = { body, meta: { ...(index === 0 ? meta : {}), gate: "approved" } };
    return [call, ...answer(random, id, name, isKnown)];
  }).flat();
}

function answer(random: Random, id: string, name: string, isKnown: boolean): EventDraft[] {
  const kind = random.whole(4);
  if (kind === 0) return [];
  if (!isKnown || kind === 1)
    return [
      {
        body: {
          kind: "AgentErrorEvent",
          source: "agent",
          tool_name: name,
          tool_call_id: id,
          error: oddText(random),
        },
      },
    ];
  const observation = { kind: "ThinkObservation", content: contents(random), is_error: false } as Observation;
  return [
    {
      body: (actionId) => ({
        kind: "ObservationEvent",
        source: "environment",
        tool_name: name,
        tool_call_id: id,
        observation,
        action_id: actionId,
      }),
    },
  ];
}

function contents(random: Random): (TextContent | ImageContent)[] {
  return Array.from({ length: random.whole(3) }, () =>
    random.whole(4) === 0
      ? { type: "image", image_urls: [oddImage(random)], cache_prompt: false }
      : { type: "text", text: oddText(random), cache_prompt: false },
  );
}
