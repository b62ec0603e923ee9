import { cp, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { zstdCompressSync } from "node:zlib";
import type { Event } from "@convoke/protocol";
import { expect, test } from "vitest";
import { startTestServer } from "../start-server.ts";
import { goldenScript } from "./golden-script.ts";

type Expected = {
  readonly finished: string;
  readonly waiting: string;
  readonly strange: string;
  readonly events: Readonly<Record<string, readonly Event[]>>;
};

const folders = await readdir(import.meta.dirname, { withFileTypes: true });
const releases = folders.filter((entry) => entry.isDirectory()).map(({ name }) => name);

test("there is a folder of a release", () => {
  expect(releases.length).toBeGreaterThan(0);
});

test.each(releases)("the folder of release %s takes under 200 KB compressed", async (release) => {
  const data = join(import.meta.dirname, release, "data");
  const sizes = (await readdir(data)).map(
    async (name) => zstdCompressSync(await readFile(join(data, name))).length,
  );
  expect((await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)).toBeLessThan(200_000);
});

test.each(releases)("P8, P57: a data folder of release %s is listed, read and resumed", async (release) => {
  const folder = await mkdtemp(join(tmpdir(), "convoke-golden-"));
  try {
    const dataDir = join(folder, "data");
    await cp(join(import.meta.dirname, release, "data"), dataDir, { recursive: true });
    const text = await readFile(join(import.meta.dirname, release, "expected.json"), "utf8");
    const { finished, waiting, strange, events } = JSON.parse(text) as Expected;
    await using server = await startTestServer({ script: goldenScript, config: { dataDir } });

    const { json: page } = await server.call("GET", "/api/conversations/search?sort_order=CREATED_AT");
    expect(page).toMatchObject({
      items: [
        { id: finished, title: "Finished", execution_status: "finished" },
        { id: waiting, title: "Waiting", execution_status: "waiting_for_confirmation" },
        { id: strange, title: "From later", execution_status: "finished" },
      ],
    });
    for (const [id, expected] of Object.entries(events)) expect(await server.events(id)).toEqual(expected);
    const { json: secret } = await server.call("GET", "/api/settings/secrets");
    expect(secret).toMatchObject({ secrets: [{ name: "GOLDEN" }] });

    // An event of a kind from later hides nothing but itself, and is handed on as it is.
    const { text: strangeText } = await server.call("GET", `/api/conversations/${strange}/events/search`);
    expect(strangeText).toContain('"kind":"EventOfTomorrow"');

    const answered = { accept: true };
    await server.call("POST", `/api/conversations/${waiting}/events/respond_to_confirmation`, answered);
    await server.client.sendMessage(strange, { content: [{ type: "text", text: "And now?" }], run: true });
    for (const id of [waiting, strange]) {
      const { json } = await server.call("GET", `/api/conversations/${id}`);
      expect(json).toMatchObject({ id });
      await expect
        .poll(async () => (await server.events(id)).some(({ source }) => source === "environment"))
        .toBe(true);
    }
    const told = await server.events(strange);
    expect(told.filter(({ kind }) => kind === "MessageEvent").length).toBeGreaterThanOrEqual(3);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
