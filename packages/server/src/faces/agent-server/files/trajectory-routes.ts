import { Readable } from "node:stream";
import type { Event } from "@convoke/protocol";
import { secretValues, sparedTexts } from "../../../engine/secret-values.ts";
import { toAtif } from "../../../reading/atif.ts";
import { toMarkdown } from "../../../reading/transcript.ts";
import { toConversationInfo, type ConversationInfoSource } from "../../../engine/state/conversation-info.ts";
import type { Directory } from "../../../directory/directory.ts";
import { conversationMissing } from "../../../engine/refusals.ts";
import type { RouteHandler } from "../../../http/mount.ts";
import type { Journal, StoredEvent } from "../../../journal/journal.ts";
import { Fault } from "../../../lib/fault.ts";
import { version } from "../../../lib/version.ts";
import { createMask, type Mask } from "../../../security/mask.ts";
import type { UserSecrets } from "../../../workspaces/machine.ts";
import { zipStream, type ZipEntry } from "../../../workspaces/zip-stream.ts";
import { asAttachment } from "./file-download.ts";
import { conversationIdOf } from "../../../http/conversation-id.ts";

export type TrajectoryRouteDeps = {
  readonly directory: Pick<Directory, "describe">;
  readonly journal: Pick<Journal, "read" | "lastSeq">;
  readonly secrets: UserSecrets;
};

/** The maximum of entries in a plain ZIP file, less the file about the conversation. */
const maxEvents = 65_000;
const batchSize = 100;

/** A conversation as files: `meta.json`, and each event as it goes out anywhere. */
export function trajectoryHandlers({ directory, journal, secrets }: TrajectoryRouteDeps) {
  return {
    downloadTrajectory: async (request) => {
      const { caller } = request;
      const id = conversationIdOf(request);
      const described = await directory.describe(caller, id);
      if (described === null) throw conversationMissing(id);
      if ((await journal.lastSeq(id)) > maxEvents) {
        throw new Fault(
          "too-large",
          "trajectory_too_long",
          `The conversation has more than ${maxEvents} events. Read them with events/search.`,
        );
      }
      const mask = await maskFor(described, secrets, caller.userId);
      const meta = JSON.stringify(toConversationInfo(described), null, 2);
      return {
        stream: zipStream(listEntries(id, meta, journal, mask)),
        contentType: "application/zip",
        headers: asAttachment(`${id}.zip`),
      };
    },
  } satisfies Record<string, RouteHandler>;
}

/** A conversation as one text, written while it is read, however long it is. */
export function transcriptHandlers({ directory, journal, secrets }: TrajectoryRouteDeps) {
  return {
    getTranscript: async (request) => {
      const { caller, query } = request;
      const id = conversationIdOf(request);
      const described = await directory.describe(caller, id);
      if (described === null) throw conversationMissing(id);
      const mask = await maskFor(described, secrets, caller.userId);
      const { ending, type, write } = formats[query["format"] as keyof typeof formats];
      return {
        stream: Readable.from(write(described, journal, mask), { objectMode: false }),
        contentType: `${type}; charset=utf-8`,
        headers: asAttachment(`${id}.${ending}`),
      };
    },
  } satisfies Record<string, RouteHandler>;
}

/** Events are stored without secrets; this masks secrets that were added after the event. */
async function maskFor(
  described: ConversationInfoSource,
  secrets: UserSecrets,
  userId: string,
): Promise<Mask> {
  const own = Object.values(await secrets.values(userId)).map(({ value }) => value);
  const values = [...secretValues(described.secrets), ...own];
  return createMask(values, sparedTexts(described.config));
}

const formats = {
  markdown: { ending: "md", type: "text/markdown", write: listSections },
  jsonl: { ending: "jsonl", type: "application/x-ndjson", write: listLines },
  atif: { ending: "atif.json", type: "application/json", write: listSteps },
} as const;

async function* listLines(
  { id }: ConversationInfoSource,
  journal: Pick<Journal, "read">,
  mask: Mask,
): AsyncGenerator<string> {
  for await (const { json } of readAll(id, journal)) yield `${mask(json)}\n`;
}

async function* listSteps(
  { id, title, config }: ConversationInfoSource,
  journal: Pick<Journal, "read">,
  mask: Mask,
): AsyncGenerator<string> {
  const shownTitle = title === null ? null : mask(title, "document");
  const model = config.agent.llm.model ?? null;
  yield* toAtif(
    { id, title: shownTitle, tags: config.tags, model, version },
    parsedEvents(id, journal, mask),
  );
}

async function* parsedEvents(id: string, journal: Pick<Journal, "read">, mask: Mask): AsyncGenerator<Event> {
  for await (const { json } of readAll(id, journal)) yield JSON.parse(mask(json)) as Event;
}

async function* listSections(
  { id, title }: ConversationInfoSource,
  journal: Pick<Journal, "read">,
  mask: Mask,
): AsyncGenerator<string> {
  yield `# ${mask(title ?? "Conversation", "document")}\n\n`;
  for await (const { json } of readAll(id, journal)) {
    const text = toMarkdown(JSON.parse(mask(json)) as Event);
    if (text !== "") yield text;
  }
}

async function* readAll(id: string, journal: Pick<Journal, "read">): AsyncGenerator<StoredEvent> {
  for (let afterSeq = 0; ;) {
    const events = await journal.read(id, afterSeq, batchSize);
    yield* events;
    const last = events.at(-1);
    if (last === undefined) return;
    afterSeq = last.seq;
  }
}

async function* listEntries(
  id: string,
  meta: string,
  journal: Pick<Journal, "read">,
  mask: Mask,
): AsyncGenerator<ZipEntry> {
  yield { name: "meta.json", content: Buffer.from(mask(meta, "document")) };
  for await (const event of readAll(id, journal)) {
    const number = String(event.seq).padStart(5, "0");
    yield { name: `events/event-${number}-${event.id}.json`, content: Buffer.from(mask(event.json)) };
  }
}
