import type { Directory } from "../../directory/directory.ts";
import type { Watch } from "../../directory/watch.ts";
import type { Caller } from "../../security/caller.ts";
import { toOutput, toResponse, type ResponseState } from "./response-body.ts";
import { OpenCalls } from "./open-calls.ts";
import { parseResponseId } from "./response-id.ts";
import { RunReader, type RunPart } from "./run-parts.ts";
import { difference, sumOf } from "./run-usage.ts";

/** A response as far as the log has it. Throws a fault when there is none. */
export async function storedResponse(
  directory: Pick<Directory, "watch" | "head" | "describe">,
  caller: Caller,
  id: string,
): Promise<Record<string, unknown>> {
  const { conversationId, afterSeq, promptTokens, completionTokens } = parseResponseId(id);
  const watch = await directory.watch(caller, conversationId);
  const config = (await directory.describe(caller, conversationId))?.config;
  const { parts, createdAtMs } = await readRun(
    watch,
    afterSeq,
    (await directory.head(caller, conversationId))?.lastSeq ?? 0,
  );
  const before = {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  };
  const spent = parts.findLast((part) => part.type === "spent");
  const usage = spent === undefined ? null : difference(sumOf(spent.stats), before);
  const facts = {
    id,
    conversationId,
    model: config?.agent.llm.model ?? "",
    createdAtMs,
    tools: config?.client_tools ?? [],
    request: null,
  };
  return toResponse(facts, { ...stateOf(parts), usage });
}

/** The parts up to the end of the run, or to the end that the log has now; and when the first event was stored. */
async function readRun(
  watch: Watch,
  afterSeq: number,
  lastSeq: number,
): Promise<{ readonly parts: readonly RunPart[]; readonly createdAtMs: number }> {
  const reader = new RunReader(watch.id, new OpenCalls());
  const parts: RunPart[] = [];
  let createdAtMs = 0;
  if (lastSeq <= afterSeq) return { parts, createdAtMs };
  for await (const events of watch.follow({ afterSeq, signal: new AbortController().signal })) {
    const [first] = events;
    if (createdAtMs === 0 && first !== undefined)
      createdAtMs = Date.parse((JSON.parse(first.json) as { timestamp: string }).timestamp);
    for (const part of reader.read(events.map(({ json }) => json))) {
      parts.push(part);
      if (part.type === "end" && !isWaiting(part)) return { parts, createdAtMs };
    }
    if ((events.at(-1)?.seq ?? lastSeq) >= lastSeq) break;
  }
  return { parts, createdAtMs };
}

/** Somebody will answer: the run goes on. */
function isWaiting({ end }: Extract<RunPart, { type: "end" }>): boolean {
  return "failure" in end && end.status === "waiting";
}

function stateOf(parts: readonly RunPart[]): Omit<ResponseState, "usage"> {
  const last = parts.findLast((part) => part.type === "end");
  const soFar = { output: toOutput(parts, ""), completedAtMs: null };
  if (last === undefined || isWaiting(last)) return { status: "in_progress", ...soFar };
  if ("text" in last.end)
    return { status: "completed", output: toOutput(parts, last.end.text), completedAtMs: last.atMs };
  if (last.end.status === "paused") return { status: "cancelled", ...soFar };
  return { status: "failed", ...soFar, problem: last.end.failure.message };
}
