import { createWriteStream } from "node:fs";
import { lstat, mkdtemp, open, readdir, rm, type FileHandle } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join, relative, sep } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { openZipWriter } from "@convoke/tool-host";

/** A file that is sent as one upload. */
export type Upload = { readonly name: string; readonly path: string } & AsyncDisposable;

/** What a person named: a file as it is, or the folders of conversations in a folder, each packed when its turn comes. */
export async function findUploads(path: string): Promise<(() => Promise<Upload>)[]> {
  const found = await lstat(path);
  if (!found.isDirectory())
    return [async () => ({ name: basename(path), path, [Symbol.asyncDispose]: async () => {} })];
  if (await isConversation(path)) return [() => packFolder(path)];
  const entries = await readdir(path, { withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(path, name));
  const conversations: string[] = [];
  for (const folder of folders.toSorted()) if (await isConversation(folder)) conversations.push(folder);
  return conversations.map((folder) => () => packFolder(folder));
}

async function isConversation(folder: string): Promise<boolean> {
  const names = await readdir(folder);
  return names.some((name) => name === "base_state.json" || name === "events" || /^event_\d+_/.test(name));
}

/** Only the files that make a conversation; links are passed over. */
async function packFolder(folder: string): Promise<Upload> {
  const home = await mkdtemp(join(tmpdir(), "convoke-import-"));
  const path = join(home, "conversation.zip");
  const remove = (): Promise<void> => rm(home, { recursive: true, force: true });
  try {
    await pipeline(Readable.from(zipOf(folder), { objectMode: false }), createWriteStream(path));
  } catch (error) {
    await remove();
    throw error;
  }
  return { name: `${basename(folder)}.zip`, path, [Symbol.asyncDispose]: remove };
}

async function* zipOf(folder: string): AsyncGenerator<Uint8Array> {
  const zip = await openZipWriter();
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const wanted = entries.filter((entry) => entry.isFile() && isPart(entry.name));
  for (const { parentPath, name } of wanted) {
    const path = join(parentPath, name);
    await using file: FileHandle = await open(path);
    const inside = relative(folder, path).split(sep).join("/");
    const content = await file.readFile();
    yield* zip.add({
      name: `${basename(folder)}/${inside}`,
      content,
      mode: 0o100_644,
      modifiedAtMs: Date.now(),
    });
  }
  yield* zip.end();
}

function isPart(name: string): boolean {
  return name === "meta.json" || name === "base_state.json" || /^event[-_]\d+[-_].+\.json$/.test(name);
}
