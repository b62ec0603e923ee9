import { existsSync } from "node:fs";
import { openAuditFiles, type AuditFile } from "./audit-files.ts";
import { StreamTail, type TailFile, type TailLine, type TailPlace } from "./stream-tail.ts";
import { parseObject } from "../lib/json-object.ts";

export type AuditQuery = {
  /** `calls`, `refusals` or `network`, of every process that has written. */
  readonly kind: string;
  readonly user: string | null;
  /** What the path, or the route, begins with. */
  readonly path: string | null;
  /** Epoch milliseconds. */
  readonly sinceMs: number | null;
  readonly limit: number;
  /** Null for the newest lines. */
  readonly places: AuditPlaces | null;
};

/** Where the next page begins in each stream; streams that are not named have no more. */
export type AuditPlaces = Readonly<Record<string, TailPlace>>;

/** `places` is null when there is nothing more. A page may be empty and have others after it. */
export type FoundLines = {
  readonly items: readonly (Readonly<Record<string, unknown>> & {
    readonly stream: string;
    readonly at: string;
  })[];
  readonly places: AuditPlaces | null;
};

/** The work of one request: it looks at no more lines. */
const maxLines = 10_000;

/** The newest lines of all streams of a kind that fit the query. */
export async function readAuditPage(directory: string, query: AuditQuery): Promise<FoundLines> {
  // Made with the first line.
  if (!existsSync(directory)) return { items: [], places: null };
  await using scope = new AsyncDisposableStack();
  const files = await openAuditFiles(directory, scope);
  const tails: NextLine[] = [];
  for (const [stream, ofStream] of files) {
    const place = query.places?.[stream] ?? null;
    if (stream.replace(/-\d+$/, "") !== query.kind || (query.places !== null && place === null)) continue;
    const tail = new StreamTail(await toTailFiles(ofStream), place);
    await readNext(tails, { stream, tail }, query);
  }
  const items: FoundLines["items"][number][] = [];
  for (let lines = 0; lines < maxLines && items.length < query.limit && tails.length > 0; lines += 1) {
    const newest = tails.reduce((one, other) => (other.line.at > one.line.at ? other : one));
    tails.splice(tails.indexOf(newest), 1);
    // `convoke audit verify` names a line that is not of the log.
    const entry = parseObject(newest.line.text);
    if (entry !== null && fits(entry, query)) {
      items.push({ ...entry, stream: newest.stream, at: newest.line.at });
    }
    await readNext(tails, newest, query);
  }
  return {
    items,
    places: tails.length === 0 ? null : Object.fromEntries(tails.map(({ stream, place }) => [stream, place])),
  };
}

type NextLine = {
  readonly stream: string;
  readonly tail: StreamTail;
  readonly line: TailLine;
  /** Before the line was read. */
  readonly place: TailPlace;
};

/** Lines of a stream are in the order of their times. */
async function readNext(
  tails: NextLine[],
  { stream, tail }: Pick<NextLine, "stream" | "tail">,
  { sinceMs }: AuditQuery,
): Promise<void> {
  const { place } = tail;
  const line = place === null ? null : await tail.read();
  if (place === null || line === null) return;
  if (sinceMs === null || !(Date.parse(line.at) < sinceMs)) tails.push({ stream, tail, line, place });
}

async function toTailFiles(files: readonly AuditFile[]): Promise<TailFile[]> {
  const found = files.map(async ({ handle }) => {
    const { ino, size } = await handle.stat();
    return { inode: ino, sizeBytes: size, handle };
  });
  return (await Promise.all(found)).toReversed();
}

function fits(entry: Readonly<Record<string, unknown>>, { user, path }: AuditQuery): boolean {
  if (user !== null && entry["user"] !== user) return false;
  if (path === null) return true;
  const { route, target } = entry;
  const paths = [entry["path"], route, typeof route === "string" ? filled(route, target) : null];
  return paths.some((one) => typeof one === "string" && one.startsWith(path));
}

/** `/api/conversations/:conversation_id` with the id of the target. */
function filled(route: string, target: unknown): string {
  const values = new Map(Object.entries(typeof target === "object" && target !== null ? target : {}));
  return route.replaceAll(/:(\w+)/g, (name, key: string) => String(values.get(key) ?? name));
}
