import type { ConvokeClient } from "../convoke-client.ts";
import type { Change } from "./diff-lines.ts";
import { editsOf, type Edit } from "./edits.ts";
import { pathWithin } from "./shown-numbers.ts";
import { asRecord, recordAt, textAt, type UnknownRecord } from "./unknown-record.ts";

/** Which changes are reviewed. */
export type ChangeScope =
  | { readonly type: "branch" }
  | { readonly type: "uncommitted" }
  | { readonly type: "edits" }
  | { readonly type: "turn"; readonly firstId: string; readonly lastId: string };

export type ChangedFile = {
  /** Relative to the conversation's folder if it is inside, else absolute. */
  readonly path: string;
  /** Absolute. */
  readonly fullPath: string;
  readonly status: "ADDED" | "UPDATED" | "DELETED";
  /** Several if another program changed the file in between. */
  readonly read: (signal: AbortSignal) => Promise<readonly Change[]>;
};

/** Where changes are looked for. */
export type ChangePlace = {
  readonly client: ConvokeClient;
  readonly conversationId: string;
  readonly folder: string;
};

/** Maximum tool results searched for edits, if no turn is selected. */
const maxResults = 1_000;
const pageSize = 100;
/** Above this length the server's diff is used. */
const trim = 65_536;

/** The commit to revert to; undefined: the start of the branch. Null: these changes cannot be reverted. */
export function baseOf(scope: ChangeScope): string | undefined | null {
  if (scope.type === "branch") return undefined;
  return scope.type === "uncommitted" ? "HEAD" : null;
}

export async function changedFiles(
  place: ChangePlace,
  scope: ChangeScope,
  signal: AbortSignal,
): Promise<readonly ChangedFile[]> {
  if (scope.type === "branch" || scope.type === "uncommitted")
    return await gitChanges(place, baseOf(scope) ?? undefined, signal);
  return filesOf(await readEdits(place, scope, signal), place.folder);
}

async function gitChanges(
  { client, conversationId, folder }: ChangePlace,
  ref: string | undefined,
  signal: AbortSignal,
): Promise<readonly ChangedFile[]> {
  const params = { runtime_conversation_id: conversationId };
  const against = ref === undefined ? {} : { ref };
  const changes = await client.call("GET /api/conversations/{runtime_conversation_id}/git/changes", {
    params,
    query: { path: folder, ...against },
    signal,
  });
  return changes.map(({ path, status }) => {
    const fullPath = `${folder.replace(/\/$/, "")}/${path}`;
    return {
      path,
      fullPath,
      status: status === "MOVED" ? "UPDATED" : status,
      read: async (wanted) => {
        const diff = await client.call("GET /api/conversations/{runtime_conversation_id}/git/diff", {
          params,
          query: { path: fullPath, ...against },
          signal: wanted,
        });
        return [{ before: diff.original ?? "", after: diff.modified ?? "" }];
      },
    };
  });
}

/** The changes by editing tools, in log order. */
async function readEdits(
  { client, conversationId }: ChangePlace,
  scope: Extract<ChangeScope, { type: "edits" | "turn" }>,
  signal: AbortSignal,
): Promise<readonly Edit[]> {
  const edits: Edit[][] = [];
  const isTurn = scope.type === "turn";
  let pageId = isTurn ? scope.firstId : null;
  for (let count = 0; count < maxResults; count += pageSize) {
    const page = await client.call("GET /api/conversations/{conversation_id}/events/search", {
      params: { conversation_id: conversationId },
      query: {
        kind: "ObservationEvent",
        limit: pageSize,
        trim,
        sort_order: isTurn ? "TIMESTAMP" : "TIMESTAMP_DESC",
        ...(pageId === null ? {} : { page_id: pageId }),
      },
      signal,
    });
    const events = page.items.map(toEvent);
    const meant = isTurn ? events.filter((event) => textAt(event, "id") <= scope.lastId) : events;
    edits.push(...meant.map(editsOfEvent));
    pageId = page.next_page_id ?? null;
    if (pageId === null || meant.length < events.length) break;
  }
  return (isTurn ? edits : edits.toReversed()).flat();
}

function toEvent(item: UnknownRecord): UnknownRecord {
  return item["kind"] === "TrimmedEvent" ? (recordAt(item, "event") ?? {}) : item;
}

function editsOfEvent(event: UnknownRecord): Edit[] {
  const observation = asRecord(event["observation"]) ?? {};
  const outcome = {
    type: "result",
    id: textAt(event, "id"),
    at: "",
    observation,
    isError: observation["is_error"] === true,
    isCut: false,
  } as const;
  return [...editsOf({ action: {}, outcome })];
}

/** Groups edits by file. An edit that starts from the result of the one before it is merged with it. */
export function filesOf(edits: readonly Edit[], folder: string | null): readonly ChangedFile[] {
  const byPath = Map.groupBy(edits, ({ path }) => path);
  return [...byPath]
    .map(([fullPath, own]): ChangedFile => {
      const changes = joined(own);
      return {
        path: pathWithin(fullPath, folder),
        fullPath,
        status: own.at(-1)!.isDeleted ? "DELETED" : own[0]!.isNew ? "ADDED" : "UPDATED",
        read: async () => changes,
      };
    })
    .toSorted((left, right) => (left.path < right.path ? -1 : 1));
}

function joined(edits: readonly Edit[]): readonly Change[] {
  const changes: Change[] = [];
  for (const edit of edits) {
    const last = changes.at(-1);
    if ("patch" in edit) changes.push({ patch: edit.patch });
    else if (last !== undefined && "after" in last && last.after === edit.before)
      changes[changes.length - 1] = { before: last.before, after: edit.after };
    else changes.push({ before: edit.before, after: edit.after });
  }
  return changes;
}

/** A digest of a change, to detect whether it is another one. */
export function digestOf(changes: readonly Change[]): string {
  const text = JSON.stringify(changes);
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193) >>> 0;
  return `${text.length}-${hash.toString(16)}`;
}
