import { archiveEntries } from "./archive-entries.ts";
import type { ArchiveEntry } from "./archive-entry.ts";
import type { ImportLimits } from "./import-limits.ts";
import { unreadableUpload, uploadTooLarge } from "./import-refusal.ts";
import type { SourceConversation, SourceEvent, SourceText } from "./source-conversation.ts";
import type { SpooledFile } from "./spooled-file.ts";

type Gathered = { meta: SourceText | null; base: SourceText | null; readonly events: SourceEvent[] };

/**
 * Sorts the files of an upload by conversation and copies their texts to `texts`. Names are only compared, never used as paths. Files
 * that belong to no conversation are passed over.
 */
export async function gatherSources(
  upload: SpooledFile,
  name: string,
  texts: SpooledFile,
  limits: ImportLimits,
): Promise<SourceConversation[]> {
  const gatherer = new Gatherer(texts, limits);
  for await (const entry of archiveEntries(upload, name, limits)) await gatherer.take(entry);
  return gatherer.sources();
}

class Gatherer {
  readonly #texts: SpooledFile;
  readonly #limits: ImportLimits;
  readonly #byName = new Map<string, Gathered>();
  readonly #seen = new Set<string>();
  #files = 0;

  constructor(texts: SpooledFile, limits: ImportLimits) {
    this.#texts = texts;
    this.#limits = limits;
  }

  async take(entry: ArchiveEntry): Promise<void> {
    this.#files += 1;
    if (this.#files > this.#limits.files)
      throw uploadTooLarge(`The archive has more than ${this.#limits.files} files. Send it in parts.`);
    const { name } = entry;
    const parts = partsOf(name, this.#limits.nameCharacters);
    const role = roleOf(parts);
    if (role === null) return;
    if (!entry.isFile) throw unreadableUpload(`${name} is a link, or is encrypted. Send plain files.`);
    const key = parts.join("/");
    if (this.#seen.has(key)) throw unreadableUpload(`The archive has two files ${name}. Send each once.`);
    this.#seen.add(key);
    const of = this.#conversation(role.conversation);
    if (role.type === "lines") {
      await this.#takeLines(entry, of);
      return;
    }
    const place = await this.#texts.append(await this.#read(entry));
    if (role.type === "event") this.#add(of, { file: name, place, ...role.event });
    else of[role.type] = { file: name, place };
  }

  sources(): SourceConversation[] {
    return [...this.#byName].map(([name, { meta, base, events }]) => ({
      name,
      meta,
      base,
      events: events.toSorted((left, right) => left.number - right.number),
    }));
  }

  #conversation(name: string): Gathered {
    const known = this.#byName.get(name);
    if (known !== undefined) return known;
    const { conversations } = this.#limits;
    if (this.#byName.size >= conversations)
      throw uploadTooLarge(`The archive has more than ${conversations} conversations. Send it in parts.`);
    const made: Gathered = { meta: null, base: null, events: [] };
    this.#byName.set(name, made);
    return made;
  }

  #add({ events }: Gathered, event: SourceEvent): void {
    const max = this.#limits.eventsOfConversation;
    if (events.length >= max) throw uploadTooLarge(`A conversation has more than ${max} events.`);
    events.push(event);
  }

  async #read({ name, content }: ArchiveEntry): Promise<Buffer> {
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of content()) {
      bytes += chunk.length;
      this.#check(name, bytes);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  }

  #check(name: string, bytes: number): void {
    const { fileBytes, unpackedBytes } = this.#limits;
    if (bytes > fileBytes) throw uploadTooLarge(`${name} has more than ${fileBytes} bytes.`);
    if (this.#texts.length + bytes > unpackedBytes)
      throw uploadTooLarge(`The archive unpacks to more than ${unpackedBytes} bytes. Send it in parts.`);
  }

  /** One event a line; empty lines are none. */
  async #takeLines({ name, content }: ArchiveEntry, of: Gathered): Promise<void> {
    let pending: Uint8Array[] = [];
    let bytes = 0;
    let line = 0;
    const end = async (): Promise<void> => {
      const text = Buffer.concat(pending);
      [pending, bytes, line] = [[], 0, line + 1];
      if (text.toString("latin1").trim() === "") return;
      const place = await this.#texts.append(text);
      this.#add(of, { file: `${name}, line ${line}`, place, number: of.events.length, idInName: null });
    };
    for await (const chunk of content()) {
      let from = 0;
      for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
        pending.push(chunk.subarray(from, at));
        from = at + 1;
        await end();
      }
      const rest = chunk.subarray(from);
      bytes += rest.length;
      this.#check(name, bytes);
      if (rest.length > 0) pending.push(rest);
    }
    await end();
  }
}

/** The names of the folders and of the file. Refused: what leads elsewhere on any system. */
function partsOf(name: string, max: number): string[] {
  const parts = name.split(/[/\\]/).filter((part) => part !== "" && part !== ".");
  const isElsewhere = /^([/\\]|[A-Za-z]:)/.test(name) || parts.includes("..");
  if (isElsewhere || name.includes("\0"))
    throw unreadableUpload(`The archive has a file ${JSON.stringify(name)}, whose name leads out of it.`);
  if (name.length > max) throw unreadableUpload(`A name in the archive has more than ${max} characters.`);
  return parts;
}

type Role =
  | { readonly type: "meta" | "base" | "lines"; readonly conversation: string }
  | {
      readonly type: "event";
      readonly conversation: string;
      readonly event: Pick<SourceEvent, "number" | "idInName">;
    };

/** The layouts of an agent server, of its downloads, of the app's downloads, and of our own exports. Null: nothing of a conversation. */
function roleOf(parts: readonly string[]): Role | null {
  const file = parts.at(-1) ?? "";
  const folder = parts.slice(0, -1);
  if (file === "meta.json") return { type: "meta", conversation: folder.join("/") };
  if (file === "base_state.json") return { type: "base", conversation: folder.join("/") };
  if (/\.(jsonl|ndjson)$/i.test(file))
    return { type: "lines", conversation: parts.join("/").replace(/\.\w+$/, "") };
  const [, number, id] = /^event[-_](\d{5,9})[-_](.{1,100})\.json$/.exec(file) ?? [];
  if (number === undefined || id === undefined) return null;
  const inEvents = folder.at(-1) === "events";
  const conversation = (inEvents ? folder.slice(0, -1) : folder).join("/");
  return { type: "event", conversation, event: { number: Number(number), idInName: id } };
}
