import type { EventContext } from "@convoke/protocol";
import type { RequestRecord, SeqRange } from "../../events/event-draft.ts";
import type { ModelTool } from "../../models/model.ts";
import { commonRanges } from "../branches.ts";
import { viewKinds, type ViewEvent } from "../history-view.ts";
import { RequestHash } from "../request-hash.ts";
import type { BranchReader } from "./branch-reader.ts";
import { isOrigin, sawSeqOf, toContext } from "./event-context.ts";
import { readSpend } from "./request-spend.ts";

/** Kinds that model requests are recorded at. */
const originKinds = [...viewKinds, "ConversationErrorEvent"] as const;
const isOriginKind = new Set<string>(originKinds);

/** Most logs get their tools so near to their beginning and keep them. */
const beginning: SeqRange = [1, 256];

/**
 * What the model was asked that led to an event, or that first had the event before it; kinds that no history shows are told
 * by the next event that one does. Null when no model has read it yet. Reads what the request needs, however long the log is.
 */
export async function readContext(reader: BranchReader, item: ViewEvent): Promise<EventContext | null> {
  const origin = (await originOf(reader, item)) ?? (await originOfNext(reader, item));
  if (origin === null) return null;
  const path = reader.pathTo(origin.seq, Math.min(sawSeqOf(origin) ?? origin.seq, origin.seq - 1));
  const tools = sawSeqOf(origin) === undefined ? [] : await toolsOf(reader, origin);
  const spent = await readSpend(reader, origin.seq);
  const contextOf = async (ranges: readonly SeqRange[]): Promise<EventContext> =>
    toContext(item.event.id!, origin, await reader.read(viewKinds, ranges), tools, spent);
  const needed = await neededRanges(reader, path);
  if (needed === null) return await contextOf(path);
  const context = await contextOf(needed);
  // What its record does not prove is read from the beginning.
  return context.is_exact ? context : await contextOf(path);
}

/** The event that carries what is known about the request in question. */
async function originOf(reader: BranchReader, item: ViewEvent): Promise<ViewEvent | null> {
  if (!isOriginKind.has(item.event.kind)) return null;
  if (isOrigin(item)) return item;
  if (item.event.kind === "ActionEvent") {
    // The calls of one answer stand together, and the first one has the record.
    for await (const other of reader.back(["ActionEvent"], reader.pathTo(item.seq, item.seq))) {
      const isSame =
        "llm_response_id" in other.event && other.event.llm_response_id === item.event.llm_response_id;
      if (!isSame) return null;
      if (isOrigin(other)) return other;
    }
    return null;
  }
  for await (const other of reader.ahead(originKinds, item.seq)) {
    if ((sawSeqOf(other) ?? 0) >= item.seq) return other;
  }
  return null;
}

async function originOfNext(reader: BranchReader, { seq }: ViewEvent): Promise<ViewEvent | null> {
  for await (const next of reader.ahead(originKinds, seq)) return await originOf(reader, next);
  return null;
}

/** What the newest condensation of the path left, and what came behind it; null where none says what it left. */
async function neededRanges(
  reader: BranchReader,
  path: readonly SeqRange[],
): Promise<readonly SeqRange[] | null> {
  for await (const { seq, meta } of reader.back(["Condensation"], path)) {
    if (meta.keeps !== undefined) return commonRanges(path, [...meta.keeps, [seq, path.at(-1)![1]]]);
  }
  return null;
}

/** The tool list is stored where it changed, and requests say where that is; those of older logs have it looked for. */
async function toolsOf(reader: BranchReader, { seq, meta }: ViewEvent): Promise<readonly ModelTool[]> {
  if (meta.tools !== undefined) return meta.tools;
  const { request } = meta;
  if (request?.toolsSeq !== undefined) {
    const [named] = await reader.read(originKinds, [[request.toolsSeq, request.toolsSeq]]);
    if (named?.meta.tools !== undefined) return named.meta.tools;
  }
  const path = reader.pathTo(seq, seq - 1);
  const first = await reader.read(originKinds, commonRanges(path, [beginning]));
  const same = first.find((item) => isListOf(request, item));
  if (same?.meta.tools !== undefined) return same.meta.tools;
  for await (const item of reader.back(originKinds, path))
    if (item.meta.tools !== undefined) return item.meta.tools;
  return [];
}

function isListOf(request: RequestRecord | undefined, { meta: { tools } }: ViewEvent): boolean {
  return tools !== undefined && request !== undefined && new RequestHash().tools(tools) === request.tools;
}
