import { Readable } from "node:stream";
import type { workspaceRoutes, conversationFileRoutes } from "@convoke/protocol";
import { secretValues, sparedTexts } from "../../../engine/secret-values.ts";
import { toConversationInfo, type ConversationInfoSource } from "../../../engine/state/conversation-info.ts";
import { describeAsked } from "../../../http/asked-conversation.ts";
import type { Journal, StoredEvent } from "../../../journal/journal.ts";
import { Fault } from "../../../lib/fault.ts";
import { toSharedEvent, toSharedInfo } from "../../../reading/shared-view.ts";
import type { Caller } from "../../../security/caller.ts";
import { createMask, type Mask } from "../../../security/mask.ts";
import type { UserSecrets } from "../../../workspaces/machine.ts";
import { zipStream, type ZipEntry } from "../../../workspaces/zip-stream.ts";
import { asAttachment } from "./file-download.ts";
import { transcriptForms, type TranscriptEvents } from "./transcript-forms.ts";
import type { Handlers } from "../../../http/mount.ts";
import type { FaceDeps } from "../../face-deps.ts";

/** The maximum of entries in a plain ZIP file, less the file about the conversation. */
const maxEvents = 65_000;
const batchSize = 100;

/** A conversation as files: `meta.json`, and each event as it goes out anywhere. */
export function trajectoryHandlers({ directory, journal, secrets }: FaceDeps) {
  return {
    downloadTrajectory: async (request) => {
      const { caller } = request;
      const described = await describeAsked(directory, request);
      const { id } = described;
      if (Math.min(await journal.lastSeq(id), endOf(caller)) > maxEvents) {
        throw new Fault(
          "too-large",
          "trajectory_too_long",
          `The conversation has more than ${maxEvents} events. Read them with events/search.`,
        );
      }
      const mask = await maskFor(described, secrets, caller.userId);
      const info = toConversationInfo(described);
      const meta = caller.share === undefined ? info : toSharedInfo(info, caller.share);
      const events = readAll(id, journal, caller);
      return {
        stream: zipStream(listEntries(JSON.stringify(meta, null, 2), events, mask)),
        contentType: "application/zip",
        headers: asAttachment(`${id}.zip`),
      };
    },
  } satisfies Partial<Handlers<typeof workspaceRoutes>>;
}

/** A conversation as one text, written while it is read, however long it is. */
export function transcriptHandlers({ directory, journal, secrets }: FaceDeps) {
  return {
    getTranscript: async (request) => {
      const { caller, query } = request;
      const described = await describeAsked(directory, request);
      const { id } = described;
      const mask = await maskFor(described, secrets, caller.userId);
      const { write, contentType, ending } = transcriptForms[query.format ?? "markdown"];
      const events = readAll(id, journal, caller);
      return {
        stream: Readable.from(write(described, events, mask), { objectMode: false }),
        contentType,
        headers: asAttachment(`${id}.${ending}`),
      };
    },
  } satisfies Partial<Handlers<typeof conversationFileRoutes>>;
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

/** The events as the caller may see them: for a share link, up to its last one. */
async function* readAll(
  id: string,
  journal: Pick<Journal, "read">,
  caller: Caller,
): AsyncGenerator<StoredEvent> {
  const { share } = caller;
  for (let afterSeq = 0; ;) {
    const events = await journal.read(id, afterSeq, batchSize);
    for (const event of events) {
      if (event.seq > endOf(caller)) return;
      yield share === undefined ? event : { ...event, json: toSharedEvent(event.json, share) };
    }
    const last = events.at(-1);
    if (last === undefined) return;
    afterSeq = last.seq;
  }
}

function endOf({ share }: Caller): number {
  return share?.upTo?.seq ?? Infinity;
}

async function* listEntries(meta: string, events: TranscriptEvents, mask: Mask): AsyncGenerator<ZipEntry> {
  yield { name: "meta.json", content: Buffer.from(mask(meta, "document")) };
  for await (const event of events) {
    const number = String(event.seq).padStart(5, "0");
    yield { name: `events/event-${number}-${event.id}.json`, content: Buffer.from(mask(event.json)) };
  }
}
