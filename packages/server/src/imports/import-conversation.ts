import { createHash } from "node:crypto";
import type { Event } from "@convoke/protocol";
import type { Asker, CreateInput } from "../engine/create-input.ts";
import { searchableText } from "../events/event-draft.ts";
import type { Directory } from "../directory/directory.ts";
import type { ImportedLog } from "../directory/import-log.ts";
import type { Journal, NewEvent } from "../journal/journal.ts";
import type { Clock } from "../lib/clock.ts";
import { formatInstant } from "../lib/instant.ts";
import type { JsonObject } from "../lib/json-object.ts";
import { createMask, type Mask } from "../security/mask.ts";
import { EventFacts } from "./event-facts.ts";
import { ImportRefusal } from "./import-refusal.ts";
import { planEvents, type PlannedEvent, type ReadEvent } from "./plan-events.ts";
import { rewriteEvent } from "./rewrite-event.ts";
import { branchOf } from "./source-branch.ts";
import type { SourceConversation, SourceText } from "./source-conversation.ts";
import { readFacts, type SourceFacts } from "./source-facts.ts";

export type ImportChoices = {
  /** Nothing is stored. */
  readonly isDryRun: boolean;
  /** Each conversation gets an id that nothing has yet. */
  readonly hasNewIds: boolean;
};

export type ImportConversationDeps = {
  readonly directory: Pick<Directory, "importLog">;
  readonly journal: Pick<Journal, "getConversation" | "getEvents" | "ownerOf" | "read">;
  readonly clock: Clock;
  readonly newId: () => string;
  readonly readJson: (text: SourceText) => Promise<unknown>;
  /** How the conversation is configured here, with what there is to say about that. */
  readonly configure: (facts: SourceFacts, id: string, isDryRun: boolean) => Promise<Configured>;
};

export type Configured = {
  readonly config: CreateInput["config"];
  readonly secrets: CreateInput["secrets"];
  readonly warnings: readonly string[];
};

/** What came of one conversation of an upload. */
export type Imported = {
  readonly id: string;
  readonly title: string | null;
  readonly events: number;
  readonly isNew: boolean;
  readonly warnings: readonly string[];
};

/**
 * Imports one conversation, or says what would come of it. Throws an {@link ImportRefusal} where one event, or what describes the
 * conversation, is not what it should be, and where its id is taken by another log. A log that is here already is left as it is.
 */
export async function importConversation(
  deps: ImportConversationDeps,
  asker: Asker,
  source: SourceConversation,
  { isDryRun, hasNewIds }: ImportChoices,
): Promise<Imported> {
  const { clock, directory, journal } = deps;
  const meta = source.meta === null ? null : await deps.readJson(source.meta);
  const base = source.base === null ? null : await deps.readJson(source.base);
  const facts = readFacts(source, meta, base);
  const plan = await planEvents(source, deps.readJson, clock.nowMs() * 1000);
  if (plan.length === 0 && source.base === null && source.meta === null)
    throw new ImportRefusal("no_conversation", `${source.name} has no event.`);
  const id = hasNewIds ? deps.newId() : (facts.id ?? idOf(asker, plan));
  const log = new SourceLog(plan, deps.readJson, createMask(facts.secretValues));
  const result = { id, title: facts.title, events: plan.length };
  const here = hasNewIds ? null : await journal.getConversation(id);
  if (here !== null) {
    if (here.ownerId !== asker.userId) throw taken(id);
    if (here.isCopying) throw inProgress(id);
    await compare(deps, id, log);
    return { ...result, isNew: false, warnings: [] };
  }
  if (!hasNewIds && (await journal.ownerOf(id)) !== null) throw taken(id);
  const branch = branchOf(plan, facts);
  const { config, secrets, warnings } = await deps.configure(facts, id, isDryRun);
  const all = [...warnings, ...warningsOf(facts)];
  if (isDryRun) return { ...result, isNew: true, warnings: all };
  const nowMicros = clock.nowMs() * 1000;
  const createdAtMicros = Math.min(facts.createdAtMicros ?? plan[0]?.micros ?? nowMicros, nowMicros);
  const imported: ImportedLog = {
    events: () => log.events(),
    count: plan.length,
    branch,
    status: facts.status,
    note: {
      from: source.name,
      id: facts.id,
      events: plan.length,
      at: formatInstant(nowMicros),
      warnings: all,
    },
  };
  const updatedAtMicros = Math.min(
    Math.max(facts.updatedAtMicros ?? 0, plan.at(-1)?.micros ?? 0, createdAtMicros),
    nowMicros,
  );
  const input = { id, title: facts.title, config, secrets };
  const isNew = await directory.importLog(asker, input, { createdAtMicros, updatedAtMicros }, imported);
  if (!isNew) throw taken(id);
  return { ...result, isNew: true, warnings: all };
}

function warningsOf({ secretNames }: SourceFacts): string[] {
  return secretNames.length === 0
    ? []
    : [
        `Secrets are not imported. Add them again where the conversation needs them: ${secretNames.join(", ")}.`,
      ];
}

function taken(id: string): ImportRefusal {
  return new ImportRefusal(
    "id_taken",
    `There is another conversation ${id} already. Import with a new id, or delete that one first.`,
  );
}

/** By another request; or by a server that has ended, until what it left is removed. */
function inProgress(id: string): ImportRefusal {
  return new ImportRefusal(
    "import_in_progress",
    `Conversation ${id} is being imported or copied right now. Send it again in a minute.`,
  );
}

/** For a log without a description: the same log always gets the same id. */
function idOf({ userId }: Asker, [first]: readonly PlannedEvent[]): string {
  const hex = createHash("sha256").update(`${userId} ${first?.sourceId}`).digest("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** The events of a source as they are stored here. */
class SourceLog {
  readonly #plan: readonly PlannedEvent[];
  readonly #read: ReadEvent;
  readonly #mask: Mask;
  readonly #newIds: ReadonlyMap<string, string>;

  constructor(plan: readonly PlannedEvent[], read: ReadEvent, mask: Mask) {
    this.#plan = plan;
    this.#read = read;
    this.#mask = mask;
    this.#newIds = new Map(plan.map(({ sourceId, id }) => [sourceId, id]));
  }

  async *events(): AsyncGenerator<NewEvent> {
    const facts = new EventFacts();
    for (const [index, { source, sourceId, id, micros, kind }] of this.#plan.entries()) {
      const given = (await this.#read(source)) as JsonObject;
      const json = this.#mask(JSON.stringify(rewriteEvent(given, id, this.#newIds)));
      const event = JSON.parse(json) as Event;
      const imported = { ...(sourceId === id ? {} : { id: sourceId }), micros };
      yield {
        id,
        timestampMicros: micros,
        kind,
        source: event.source ?? "environment",
        json,
        text: searchableText(event),
        meta: JSON.stringify({ ...facts.of(event, index + 1), imported }),
      };
    }
  }
}

/** The conversation here begins with the same events; later ones may have been added since. */
async function compare(
  { journal }: Pick<ImportConversationDeps, "journal">,
  id: string,
  log: SourceLog,
): Promise<void> {
  let stored: readonly { readonly id: string; readonly json: string }[] = [];
  let [seq, from] = [0, 0];
  for await (const event of log.events()) {
    if (seq - from === stored.length) [from, stored] = [seq, await journal.read(id, seq, 200)];
    const here = stored[seq - from];
    if (here?.id !== event.id || here.json !== event.json) throw taken(id);
    seq += 1;
  }
}
