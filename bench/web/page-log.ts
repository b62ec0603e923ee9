import type { ConversationConfig } from "../../packages/server/src/engine/conversation-config.ts";
import { initialState } from "../../packages/server/src/engine/state/conversation-state.ts";
import { writeSnapshot } from "../../packages/server/src/engine/state/load-state.ts";
import type { Journal, NewEvent } from "../../packages/server/src/journal/journal.ts";
import { sampleConversation, sampleId } from "../../packages/server/src/journal/sample-events.ts";
import { formatInstant } from "../../packages/server/src/lib/instant.ts";

export type PageLog = { readonly id: string; readonly title: string; readonly size: number };

/** Stores an idle conversation as a page would find it: turns of commands and edits, each with results and costs. */
export async function writePageLog(journal: Journal, log: PageLog, workDir: string): Promise<void> {
  const config = JSON.stringify(configIn(workDir));
  const { id, title, size } = log;
  await journal.createConversation(
    sampleConversation(id, { ownerId: "local", title, config, updatedAtMicros: microsAt(size) }),
  );
  const lease = await journal.claim(id);
  for (let seq = 0; seq < size; seq += batchSize) {
    const count = Math.min(batchSize, size - seq);
    const lastSeq = seq + count;
    const position = { lastSeq, lastId: sampleId(lastSeq), lastMicros: microsAt(lastSeq) };
    await journal.append(lease, {
      expectedSeq: seq,
      events: Array.from({ length: count }, (_, index) => pageEvent(seq + index + 1)),
      conversation: {
        executionStatus: "finished",
        snapshot: writeSnapshot({ ...initialState(), ...position, status: "finished" }),
        snapshotSeq: lastSeq,
      },
    });
  }
  await journal.release(lease);
}

/** A phrase only in the newest answer of a log of this size; the size is a multiple of 50. */
export function newestWords(size: number): string {
  return `Turn ${size / turnSize} is done`;
}

const batchSize = 2_000;
/** A message, 16 calls with results and costs, an answer, and the final status. */
const turnSize = 50;

const words =
  "the server of a module returns an error when its path is wrong and then the test fails with a status that nobody reads".split(
    " ",
  );

function sentence(seed: number, count: number): string {
  return Array.from({ length: count }, (_, index) => words[(seed * 7 + index * 5) % words.length]).join(" ");
}

function microsAt(seq: number): number {
  return 1_770_000_000_000_000 + seq * 1_000_000;
}

function pageEvent(seq: number): NewEvent {
  const place = (seq - 1) % turnSize;
  const turn = Math.ceil(seq / turnSize);
  if (place === 0) return messageAt(seq, "user", `Order ${turn}: ${sentence(turn, 20)}`);
  if (place === turnSize - 2) return messageAt(seq, "agent", answerOf(turn));
  if (place === turnSize - 1) return stateAt(seq, "execution_status", "finished");
  if (place % 3 === 1) return actionAt(seq);
  return place % 3 === 2 ? resultAt(seq) : stateAt(seq, "stats", statsAt(seq));
}

function answerOf(turn: number): string {
  return `${newestWords(turn * turnSize)}. ${sentence(turn, 30)}.\n\n- **first**: \`${sentence(turn, 3)}\`\n- second\n\n\`\`\`js\nconst turn = ${turn};\n\`\`\`\n`;
}

function messageAt(seq: number, source: "user" | "agent", text: string): NewEvent {
  const role = source === "agent" ? "assistant" : "user";
  return toEvent(
    seq,
    { kind: "MessageEvent", source, llm_message: { role, content: [{ type: "text", text }] } },
    text,
  );
}

/** Every fourth call is an edit, the others are commands. */
function callAt(seq: number) {
  const path = `/project/src/file-${seq % 97}.ts`;
  const [before, after] = [sentence(seq, 30), sentence(seq + 1, 30)];
  return seq % 4 === 0
    ? {
        tool: "file_editor",
        action: {
          kind: "FileEditorAction",
          command: "str_replace",
          path,
          old_str: before,
          new_str: after,
        },
        observation: {
          kind: "FileEditorObservation",
          command: "str_replace",
          path,
          old_content: before,
          new_content: after,
          content: [{ type: "text", text: `The file ${path} was edited.` }],
          is_error: false,
        },
      }
    : {
        tool: "terminal",
        action: { kind: "TerminalAction", command: `npm test -- ${path}` },
        observation: {
          kind: "TerminalObservation",
          command: `npm test -- ${path}`,
          exit_code: seq % 10 === 0 ? 1 : 0,
          content: [
            {
              type: "text",
              text: Array.from({ length: 8 }, (_, line) => sentence(seq + line, 9)).join("\n"),
            },
          ],
          is_error: false,
        },
      };
}

function actionAt(seq: number): NewEvent {
  const { tool, action } = callAt(seq);
  const id = `call-${seq}`;
  return toEvent(seq, {
    kind: "ActionEvent",
    source: "agent",
    tool_name: tool,
    tool_call_id: id,
    tool_call: { id, name: tool, arguments: JSON.stringify(action), origin: "completion" },
    thought: seq % 5 === 0 ? [{ type: "text", text: sentence(seq, 14) }] : [],
    summary: sentence(seq, 4),
    security_risk: "LOW",
    action,
    llm_response_id: `response-${seq}`,
  });
}

function resultAt(seq: number): NewEvent {
  const { tool, observation } = callAt(seq - 1);
  return toEvent(seq, {
    kind: "ObservationEvent",
    source: "environment",
    tool_name: tool,
    tool_call_id: `call-${seq - 1}`,
    action_id: sampleId(seq - 1),
    observation,
  });
}

function statsAt(seq: number): object {
  const usage = {
    prompt_tokens: seq * 100,
    completion_tokens: seq,
    per_turn_token: 60_000,
    context_window: 200_000,
  };
  return {
    usage_to_metrics: {
      agent: { model_name: "openai/bench", accumulated_cost: seq / 1_000, accumulated_token_usage: usage },
    },
  };
}

function stateAt(seq: number, key: string, value: unknown): NewEvent {
  return toEvent(seq, { kind: "ConversationStateUpdateEvent", source: "environment", key, value });
}

function toEvent(
  seq: number,
  event: { readonly kind: string; readonly source: string; readonly [more: string]: unknown },
  text: string | null = null,
): NewEvent {
  const id = sampleId(seq);
  const timestampMicros = microsAt(seq);
  const json = JSON.stringify({ id, timestamp: formatInstant(timestampMicros), ...event });
  return { id, timestampMicros, kind: event.kind, source: event.source, json, text, meta: null };
}

function configIn(workDir: string): ConversationConfig {
  const llm = { model: "openai/bench", base_url: "http://127.0.0.1:9/v1", api_key: null };
  return {
    agent: { kind: "Agent", llm, tools: [{ name: "terminal" }, { name: "file_editor" }] },
    workspace: { kind: "LocalWorkspace", working_dir: workDir },
    confirmation_policy: { kind: "NeverConfirm" },
    security_analyzer: null,
    max_iterations: 500,
    stuck_detection: true,
    tags: {},
  };
}
