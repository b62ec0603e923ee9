import { gzipSync } from "node:zlib";
import { openZipWriter } from "@convoke/tool-host";
import { packTar, type TarEntry } from "modern-tar";
import { expect, test } from "vitest";
import { gatherSources } from "./gather-sources.ts";
import { importLimits, type ImportLimits } from "./import-limits.ts";
import type { SourceConversation } from "./source-conversation.ts";
import { SpooledFile } from "./spooled-file.ts";

const limits: ImportLimits = { ...importLimits, uploadBytes: 1 << 20 };

async function gather(bytes: Uint8Array, changes: Partial<ImportLimits> = {}): Promise<SourceConversation[]> {
  await using upload = await SpooledFile.open();
  await using texts = await SpooledFile.open();
  await upload.append(bytes);
  return await gatherSources(upload, "upload", texts, { ...limits, ...changes });
}

type File = { readonly name: string; readonly content?: string; readonly mode?: number };

async function zip(...files: readonly File[]): Promise<Uint8Array> {
  const writer = await openZipWriter();
  const chunks: Uint8Array[] = [];
  for (const { name, content = "{}", mode = 0o100_644 } of files)
    for await (const chunk of writer.add({
      name,
      content: Buffer.from(content),
      mode,
      modifiedAtMs: 0x50_0000_0000,
    }))
      chunks.push(chunk);
  for (const chunk of writer.end()) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function tar(...files: readonly File[]): Promise<Uint8Array> {
  const entries = files.map(({ name, content = "{}" }): TarEntry => ({
    header: { name, size: Buffer.byteLength(content) },
    body: content,
  }));
  return packTar(entries);
}

const shape = (sources: readonly SourceConversation[]): unknown =>
  sources.map(({ name, meta, base, events }) => ({
    name,
    meta: meta?.file ?? null,
    base: base?.file ?? null,
    events: events.map(({ number, idInName }) => [number, idInName]),
  }));

const folders = [
  { name: "a/base_state.json" },
  { name: "a/meta.json" },
  { name: "a/events/event-00001-two.json" },
  { name: "a/events/event-00000-one.json" },
  { name: "a/events/.eventlog.lock" },
  { name: "a/observations/large.json" },
  { name: "b/event_000000_three.json" },
];
const expected = [
  {
    name: "a",
    meta: "a/meta.json",
    base: "a/base_state.json",
    events: [
      [0, "one"],
      [1, "two"],
    ],
  },
  { name: "b", meta: null, base: null, events: [[0, "three"]] },
];

test.each([
  ["zip", () => zip(...folders)],
  ["tar", () => tar(...folders)],
  ["compressed tar", async () => gzipSync(await tar(...folders))],
])("the files of a %s are sorted by conversation and number, whatever their order", async (_what, make) => {
  expect(shape(await gather(await make()))).toEqual(expected);
});

test.each<[what: string, make: () => Promise<Uint8Array>, changes: Partial<ImportLimits>, says: RegExp]>([
  ["a name that leads out of the archive", () => zip({ name: "../a/meta.json" }), {}, /damaged|leads out/],
  ["such a name of Windows", () => tar({ name: "C:\\\\a\\\\meta.json" }), {}, /leads out/],
  ["an absolute name", () => tar({ name: "/a/meta.json" }), {}, /leads out/],
  ["a link", () => zip({ name: "a/meta.json", mode: 0o120_777 }), {}, /is a link/],
  ["a name twice", () => zip({ name: "a/meta.json" }, { name: "a/meta.json" }), {}, /two files/],
  ["a name that is too long", () => zip({ name: `${"x".repeat(2000)}/meta.json` }), {}, /1024 characters/],
  ["too many files", () => zip(...folders), { files: 3 }, /more than 3 files/],
  ["too many conversations", () => zip(...folders), { conversations: 1 }, /more than 1 conversations/],
  ["too many events", () => zip(...folders), { eventsOfConversation: 1 }, /more than 1 events/],
  [
    "a file that is too large",
    () => zip({ name: "meta.json", content: "x".repeat(50) }),
    { fileBytes: 9 },
    /9 bytes/,
  ],
  [
    "what unpacks to too much",
    async () => gzipSync(Buffer.alloc(1 << 20)),
    { unpackedBytes: 1000 },
    /unpacks to more than 1000 bytes/,
  ],
  ["a cut zip", async () => (await zip(...folders)).subarray(0, 200), {}, /cut or damaged/],
  ["a cut tar", async () => (await tar(...folders)).subarray(0, 700), {}, /cut or damaged/],
])("%s is refused", async (_what, make, changes, says) => {
  await expect(gather(await make(), changes)).rejects.toThrow(says);
});
