import { access } from "node:fs/promises";
import { join } from "node:path";
import { ConfigError } from "../boot/config.ts";
import { checkFolderStore } from "../database/data-folder-store.ts";
import type { DatabasePlace } from "../database/open-application-database.ts";
import { waitUntilReadable, type WaitOptions } from "./wait-until-readable.ts";
import { concludeInspection } from "./inspection-conclusions.ts";
import { inspect, type Inspection } from "./inspection.ts";
import { openSqliteInspector } from "../journal/sqlite/sqlite-inspector.ts";
import type { StoreInspector } from "../journal/store-inspector.ts";
import { normalizeUuid } from "../lib/uuid7.ts";

export { ConfigError, readConfig } from "../boot/config.ts";
export type { InspectedAction } from "./inspection-actions.ts";
export type { Inspection } from "./inspection.ts";

export type InspectDeps = DatabasePlace & {
  /** An id, or the beginning of one. */
  readonly conversation: string;
  /** How many of the newest events to include. */
  readonly events: number;
  /** For a store that another process keeps locked. */
  readonly wait: WaitOptions;
};

export type Inspected =
  | { readonly type: "found"; readonly inspection: Inspection }
  | { readonly type: "missing" }
  /** Some of the ids with that beginning. */
  | { readonly type: "ambiguous"; readonly ids: readonly string[] };

/** Reads one conversation from its store, also while servers use it. Changes nothing and takes no lease. */
export async function inspectConversation({
  dataDir,
  database,
  conversation,
  events,
  wait,
}: InspectDeps): Promise<Inspected> {
  const beginning = toBeginning(conversation);
  if (beginning === null) return { type: "missing" };
  await using store = await openInspector({ dataDir, database }, wait);
  const ids = await store.findIds(beginning, shownIds);
  if (ids.length > 1) return { type: "ambiguous", ids };
  const [id] = ids;
  const row = id === undefined ? null : await store.getConversation(id);
  const facts = row === null ? null : await store.facts(row.id);
  // Deleted since it was found.
  if (row === null || facts === null) return { type: "missing" };
  const found = await inspect({ store, row, facts, dataDir, events });
  return { type: "found", inspection: { ...found, conclusions: concludeInspection(found) } };
}

const shownIds = 6;

async function openInspector(
  { dataDir, database }: DatabasePlace,
  wait: WaitOptions,
): Promise<StoreInspector> {
  if (database !== null) {
    const [{ inspectPostgres }, { openPostgresInspector }] = await Promise.all([
      import("../database/postgres/check-postgres.ts"),
      import("../journal/postgres/postgres-inspector.ts"),
    ]);
    // Reports why the database is unreachable. A standby, or a read-only role, is enough.
    await inspectPostgres(database);
    return await openPostgresInspector(database);
  }
  try {
    await access(dataDir);
  } catch (error) {
    throw new ConfigError(`There is no data folder ${dataDir}. Name it with --data-dir.`, { cause: error });
  }
  await checkFolderStore(dataDir, null);
  await waitUntilReadable(join(dataDir, "journal.db"), wait);
  return openSqliteInspector(dataDir);
}

/** Lower case with dashes, as ids are stored; null when no id can begin like this. */
function toBeginning(text: string): string | null {
  const whole = normalizeUuid(text);
  if (whole !== null) return whole;
  const hex = text.toLowerCase().replaceAll("-", "");
  if (!/^[0-9a-f]{1,32}$/.test(hex)) return null;
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)]
    .filter((part) => part !== "")
    .join("-");
}
