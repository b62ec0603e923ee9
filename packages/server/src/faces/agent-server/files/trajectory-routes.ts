import { Readable } from "node:stream";
import type { Event } from "@convoke/protocol";
import { secretValues, sparedTexts } from "../../../engine/secret-values.ts";
import { toMarkdown } from "../../../reading/transcript.ts";
import { toConversationInfo, type ConversationInfoSource } from "../../../engine/state/conversation-info.ts";
import type { Directory } from "../../../directory/directory.ts";
import { conversationMissing } from "../../../engine/refusals.ts";
import type { RouteHandler } from "../../../http/mount.ts";
import type { Journal, StoredEvent } from "../../../journal/journal.ts";
import { Fault } from "../../../lib/fault.ts";
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

const forms = {
  markdown: { list: listSections, contentType: "text/markdown; charset=utf-8", ending: "md" },
  html: { list: listHtml, contentType: "text/html; charset=utf-8", ending: "html" },
  jsonl: { list: listLines, contentType: "application/x-ndjson; charset=utf-8", ending: "jsonl" },
} as const;

/** A conversation as one text, written while it is read, however long it is. */
export function transcriptHandlers({ directory, journal, secrets }: TrajectoryRouteDeps) {
  return {
    getTranscript: async (request) => {
      const { caller, query } = request;
      const id = conversationIdOf(request);
      const described = await directory.describe(caller, id);
      if (described === null) throw conversationMissing(id);
      const mask = await maskFor(described, secrets, caller.userId);
      const { list, contentType, ending } = forms[query["format"] as keyof typeof forms] ?? forms.markdown;
      return {
        stream: Readable.from(list(described, journal, mask), { objectMode: false }),
        contentType,
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

async function* listLines(
  { id }: ConversationInfoSource,
  journal: Pick<Journal, "read">,
  mask: Mask,
): AsyncGenerator<string> {
  for await (const { json } of readAll(id, journal)) yield `${mask(json)}\n`;
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

async function* listHtml(
  { id, title }: ConversationInfoSource,
  journal: Pick<Journal, "read">,
  mask: Mask,
): AsyncGenerator<string> {
  const { eventHtml } = await import("../../../reading/html/event-html.ts");
  const { pageFoot, pageHead } = await import("../../../reading/html/html-page.ts");
  yield pageHead(mask(title ?? "Conversation", "document"));
  for await (const { json } of readAll(id, journal)) {
    const section = eventHtml(JSON.parse(mask(json)) as Event);
    if (section !== "") yield section;
  }
  yield pageFoot;
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
