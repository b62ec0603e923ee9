import type { EventContext } from "@convoke/protocol";
import { isOnPath, navigationsIn, pathTo } from "../agent/branches.ts";
import { viewKinds, type ViewEvent } from "../agent/history-view.ts";
import { isOrigin, sawSeqOf, toContext } from "../agent/replay/event-context.ts";
import { RequestHash } from "../agent/request-hash.ts";

/** Computes the answer of `readContext` in the plain way: from a log that is read as a whole. */
export function wholeLogContext(
  log: readonly ViewEvent[],
  seq: number,
  eventId: string,
): EventContext | null {
  const item = log.find((other) => other.seq === seq);
  const origin = (item && originIn(log, item)) ?? originOfNext(log, seq);
  if (origin === undefined) return null;
  const path = pathTo(navigationsIn(log), origin.seq);
  const branch = log.filter((other) => isOnPath(path, other.seq));
  const sawSeq = sawSeqOf(origin);
  const end = Math.min(sawSeq ?? origin.seq, origin.seq - 1);
  const seen = branch.filter((other) => other.seq <= end && isViewKind.has(other.event.kind));
  const listed = branch.filter((other) => other.seq <= origin.seq && other.meta.tools !== undefined);
  // A failed request may have had another list in between, which no history shows.
  const isOfRequest = ({ meta }: ViewEvent): boolean =>
    new RequestHash().tools(meta.tools ?? []) === origin.meta.request?.tools;
  const { tools = [] } = (listed.findLast(isOfRequest) ?? listed.at(-1))?.meta ?? {};
  return toContext(eventId, origin, seen, sawSeq === undefined ? [] : tools);
}

function originOfNext(log: readonly ViewEvent[], seq: number): ViewEvent | undefined {
  const navigations = navigationsIn(log);
  const next = log.find(
    (other) =>
      other.seq > seq && other.meta.navigation === undefined && isOnPath(pathTo(navigations, other.seq), seq),
  );
  return next && originIn(log, next);
}

function originIn(log: readonly ViewEvent[], item: ViewEvent): ViewEvent | undefined {
  if (isOrigin(item)) return item;
  const { event } = item;
  if (event.kind === "ActionEvent") {
    const isSame = (other: ViewEvent): boolean =>
      other.event.kind === "ActionEvent" && other.event.llm_response_id === event.llm_response_id;
    return log.find((other) => isSame(other) && isOrigin(other));
  }
  const navigations = navigationsIn(log);
  return log.find((other) => {
    const isBehind = (sawSeqOf(other) ?? 0) >= item.seq;
    return isBehind && isOnPath(pathTo(navigations, other.seq), item.seq);
  });
}

const isViewKind = new Set<string>(viewKinds);
