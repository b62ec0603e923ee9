import type { Glance } from "@convoke/protocol";
import type { SocketTarget } from "./connection.ts";
import { frames, socketUrl, type StreamOptions } from "./stream.ts";

export type OverviewOptions = StreamOptions & {
  /** How many of the most recently changed conversations come first, 1 to 200; 50 when not given. */
  readonly limit?: number;
};

/** A changed conversation, a deleted one, or the end of a first list with the ids of all conversations in it. */
export type OverviewItem =
  | { readonly type: "summary"; readonly summary: Glance }
  | { readonly type: "gone"; readonly id: string }
  | { readonly type: "listed"; readonly ids: readonly string[] };

/** All conversations of the caller, live. After each reconnect the first list comes again. */
export async function* followOverview(
  target: SocketTarget,
  options: OverviewOptions,
): AsyncIterable<OverviewItem> {
  const address = socketUrl(target, "/sockets/overview", { limit: options.limit });
  const stream = { target, options, probe: "/api/glances?limit=1", url: async () => address };
  let noteProgress = (): void => {};
  for await (const json of frames(stream, (listener) => (noteProgress = listener))) {
    const item = toItem(JSON.parse(json) as Glance | { kind: string; id: string; ids: string[] });
    if (item === null) continue;
    yield item;
    noteProgress();
  }
}

/** Null for a heartbeat, and for frames of kinds that this client does not know. */
function toItem(frame: Glance | { kind: string; id: string; ids: string[] }): OverviewItem | null {
  if (frame.kind === "Glance") return { type: "summary", summary: frame as Glance };
  if (frame.kind === "Gone") return { type: "gone", id: frame.id };
  return frame.kind === "Listed" && "ids" in frame ? { type: "listed", ids: frame.ids } : null;
}
