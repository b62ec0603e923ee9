import { Fault } from "../lib/fault.ts";
import type { Asker } from "../engine/create-input.ts";
import { gatherSources } from "./gather-sources.ts";
import {
  importConversation,
  type ImportChoices,
  type ImportConversationDeps,
  type Imported,
} from "./import-conversation.ts";
import type { ImportLimits } from "./import-limits.ts";
import { ImportRefusal, unreadableUpload, uploadTooLarge } from "./import-refusal.ts";
import { readSourceJson } from "./read-source-json.ts";
import { SpooledFile } from "./spooled-file.ts";

export type ImportUploadDeps = Omit<ImportConversationDeps, "readJson"> & { readonly limits: ImportLimits };

/** What came of one conversation: it is here, or why not. */
export type ImportOutcome = { readonly source: string } & (
  | { readonly imported: Imported }
  | { readonly refusal: Pick<ImportRefusal, "code" | "message" | "file" | "field"> }
);

/**
 * Reads an upload as it arrives and imports its conversations one after another. One that cannot be imported does not affect the others;
 * an upload that cannot be read is refused as a whole, before anything is stored.
 */
export async function importUpload(
  deps: ImportUploadDeps,
  asker: Asker,
  upload: { readonly name: string; readonly content: AsyncIterable<Uint8Array> },
  choices: ImportChoices & { readonly signal: AbortSignal },
): Promise<ImportOutcome[]> {
  const { limits } = deps;
  await using texts = await SpooledFile.open();
  const sources = await (async () => {
    await using file = await SpooledFile.open();
    for await (const chunk of upload.content) {
      if (file.length + chunk.length > limits.uploadBytes)
        throw uploadTooLarge(`The upload has more than ${limits.uploadBytes} bytes. Send it in parts.`);
      await file.append(chunk);
    }
    return await gatherSources(file, upload.name, texts, limits);
  })();
  if (sources.length === 0)
    throw unreadableUpload(
      "There is no conversation in it. Send a conversation's folder as zip or tar, or a .jsonl file with its events.",
    );
  const outcomes: ImportOutcome[] = [];
  for (const source of sources) {
    choices.signal.throwIfAborted();
    const name = source.name === "" ? upload.name : source.name;
    const readJson: ImportConversationDeps["readJson"] = async ({ file, place }) =>
      readSourceJson(await texts.read(place), file, limits.depth);
    try {
      const imported = await importConversation({ ...deps, readJson }, asker, { ...source, name }, choices);
      outcomes.push({ source: name, imported });
    } catch (error) {
      outcomes.push({ source: name, refusal: refusalOf(error) });
    }
  }
  return outcomes;
}

/** What the sender can mend concerns one conversation; anything else ends the import. */
function refusalOf(error: unknown): Pick<ImportRefusal, "code" | "message" | "file" | "field"> {
  if (error instanceof ImportRefusal) return error;
  const isOfSender = error instanceof Fault && ["caller", "conflict", "refused"].includes(error.kind);
  if (!isOfSender) throw error;
  const field = error.fields[0]?.loc.slice(1).join(".") ?? null;
  return { code: error.code, message: error.message, file: null, field };
}
