import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { createServer, request } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Workspace } from "@convoke/tool-host";
import fc from "fast-check";
import { expect, test } from "vitest";
import { openMachineSurface, type MachineSurface } from "../../../testing/machine-surface.ts";

const mebibyte = 1024 * 1024;
/** Of what is on its way, so many bytes may be held. */
const tolerable = 16 * mebibyte;
const canary = "outside-canary-5555";

test.each([
  ["this machine", false, 300],
  ["a machine behind a tool host", true, 150],
])(
  "P31: hostile paths reach nothing outside of the root and break nothing, on %s",
  async (_name, isRemote, count) => {
    await using machine = await openMachineSurface({ isRemote, isJailed: true });
    const outside = join(machine.work, "..", "outside");
    await mkdir(outside);
    await writeFile(join(outside, "secret"), canary);
    await symlink(outside, join(machine.work, "link"));
    await symlink(join(outside, "secret"), join(machine.work, "file-link"));
    await symlink("loop", join(machine.work, "loop"));
    await mkdir(join(machine.work, "real"));
    await writeFile(join(machine.work, "real", "secret"), "inside");
    const part = fc.oneof(
      fc.constantFrom(
        "..",
        ".",
        "",
        "~",
        "link",
        "file-link",
        "loop",
        "real",
        "secret",
        "outside",
        "work",
        "C:\\Windows",
        "..\\..",
        "\\\\?\\C:\\x",
        "con",
        "nul.txt",
        "a".repeat(300),
        "%2e%2e",
        "%00",
        "\u202e",
        "ﾌ",
        "e\u0301",
        "..;",
        "proc",
        "self",
        "fd",
        "environ",
      ),
      fc.string({ maxLength: 12, unit: "binary" }),
    );
    const anchor = fc.constantFrom(
      machine.work,
      outside,
      "",
      "/",
      "/proc/self",
      "//",
      join(machine.work, "link"),
    );
    const path = fc
      .tuple(anchor, fc.array(part, { maxLength: 5 }))
      .map(([start, parts]) => [start, ...parts].join("/"));
    const before = await readdir(outside);
    let asked = 0;
    const ask = async (hostile: string): Promise<void> => {
      asked += 1;
      const inQuery = `path=${encodeURIComponent(hostile.toWellFormed())}`;
      const inPath = hostile.toWellFormed().split("/").map(encodeURIComponent).join("/");
      const [method, url] = routes[asked % routes.length]!(inQuery, inPath);
      const reply = url.startsWith("/api/file/upload")
        ? await machine.upload(url, new Blob(["overwritten"]))
        : await machine.call(method, url);
      expect(reply.status, `${method} ${url}`).toBeLessThan(500);
      expect(reply.bytes.includes(canary), `${method} ${url}`).toBe(false);
      expect(reply.bytes.includes("root:x:"), `${method} ${url}`).toBe(false);
    };
    await fc.assert(fc.asyncProperty(path, ask), { seed: 31, numRuns: count, endOnFailure: true });
    expect(asked).toBeGreaterThanOrEqual(count);
    expect(await readdir(outside)).toEqual(before);
    expect(await readFile(join(outside, "secret"), "utf8")).toBe(canary);
  },
);

const routes: readonly ((query: string, path: string) => readonly [method: string, url: string])[] = [
  (query) => ["GET", `/api/file/download?${query}`],
  (_query, path) => ["GET", `/api/file/download/${path}`],
  (query) => ["POST", `/api/file/upload?${query}`],
  (query) => ["GET", `/api/file/search_subdirs?${query}&include_hidden=true`],
  (query) => ["POST", `/api/file/create_directory?${query}`],
  (_query, path) => ["POST", `/api/file/upload/${path}`],
];

test("P31: a directory that is swapped for a link while it is used leads nowhere", async () => {
  await using machine = await openMachineSurface({ isJailed: true });
  const outside = join(machine.work, "..", "outside");
  await mkdir(outside);
  await writeFile(join(outside, "secret"), canary);
  const place = join(machine.work, "place");
  await mkdir(join(machine.work, "kept"));
  await writeFile(join(machine.work, "kept", "secret"), "inside");
  const stop = new AbortController();
  const swapping = (async () => {
    while (!stop.signal.aborted) {
      // Whoever uploads may make the place again at any moment.
      await rm(place, { recursive: true, force: true }).catch(() => {});
      await symlink(outside, place).catch(() => {});
      await sleep(1);
      await rm(place, { recursive: true, force: true }).catch(() => {});
      await rename(join(machine.work, "kept"), place).catch(() => {});
      await sleep(1);
      await rename(place, join(machine.work, "kept")).catch(() => {});
    }
  })();
  const path = encodeURIComponent(join(place, "secret"));
  for (let index = 0; index < 60; index += 1) {
    const down = await machine.call("GET", `/api/file/download?path=${path}`);
    expect(down.status).toBeLessThan(500);
    expect(down.bytes.includes(canary)).toBe(false);
    const up = await machine.upload(`/api/file/upload?path=${path}`, new Blob(["overwritten"]));
    expect(up.status).toBeLessThan(500);
  }
  stop.abort();
  await swapping;
  expect(await readdir(outside)).toEqual(["secret"]);
  expect(await readFile(join(outside, "secret"), "utf8")).toBe(canary);
});

test("P46: a large upload to a slow disk holds little memory", async () => {
  await using machine = await openMachineSurface({ wrapWorkspace: slowly });
  const total = 32 * mebibyte;
  const path = join(machine.work, "large");
  const held = watchHeldBytes();
  expect(await uploadInChunks(machine, path, total, held.measure)).toBe(200);
  expect((await readFile(path)).length).toBe(total);
  expect(held.maxBytes()).toBeLessThan(tolerable);
});

test("P46: a large upload to a slow disk delays nobody", async () => {
  await using machine = await openMachineSurface({ wrapWorkspace: slowly });
  const pulse = startPulse(machine);
  expect(await uploadInChunks(machine, join(machine.work, "large"), 64 * mebibyte)).toBe(200);
  const latencies = await pulse.stop();
  // Other tests share these cores: what is compared is this server beside a bare one in the same process.
  expect(latencies.ours).toBeLessThan(Math.max(50, 3 * latencies.bare));
});

test("P29: an upload of unknown length stops at the limit with a 413, and nothing is left of it", async () => {
  await using machine = await openMachineSurface({ uploadLimitBytes: mebibyte });
  expect(await uploadInChunks(machine, join(machine.work, "large"), 3 * mebibyte)).toBe(413);
  expect(await readdir(machine.work)).toEqual([]);
  const fits = await machine.upload(
    `/api/file/upload?path=${encodeURIComponent(join(machine.work, "fits"))}`,
    new Blob([new Uint8Array(mebibyte)]),
  );
  expect(fits.status).toBe(200);
});

/** A disk that takes its time for every piece. */
function slowly(workspace: Workspace): Workspace {
  return {
    ...workspace,
    writeFile: (path, content) =>
      workspace.writeFile(
        path,
        (async function* () {
          let seen = 0;
          for await (const bytes of content) {
            seen += bytes.length;
            if (seen > 8 * mebibyte) {
              seen = 0;
              await sleep(20);
            }
            yield bytes;
          }
        })(),
      ),
  };
}

/** Sends a form with a file of zeros, no faster than it is taken, and without saying how long it is. */
async function uploadInChunks(
  machine: MachineSurface,
  path: string,
  total: number,
  onChunk = async (): Promise<void> => {},
): Promise<number> {
  const answered = Promise.withResolvers<number>();
  const sent = request(
    `${machine.url}/api/file/upload?path=${encodeURIComponent(path)}`,
    {
      method: "POST",
      headers: { "x-session-api-key": machine.key, "content-type": "multipart/form-data; boundary=xyz" },
    },
    (response) => {
      response.resume();
      answered.resolve(response.statusCode ?? 0);
    },
  );
  // A refusal may cut the sending short; the answer says all.
  sent.on("error", () => {});
  const reply = { isThere: false };
  void answered.promise.then(() => (reply.isThere = true));
  sent.write('--xyz\r\ncontent-disposition: form-data; name="file"; filename="x"\r\n\r\n');
  const chunk = Buffer.alloc(mebibyte);
  for (let at = 0; at < total && !reply.isThere; at += chunk.length) {
    if (!sent.write(chunk)) {
      await Promise.race([new Promise((resolve) => sent.once("drain", resolve)), answered.promise]);
    }
    if ((at / mebibyte) % 12 === 0) await onChunk();
  }
  if (!reply.isThere) sent.end("\r\n--xyz--\r\n");
  const status = await answered.promise;
  sent.destroy();
  return status;
}

/** Asks for the health of the server, and of a bare one beside it, again and again; the medians in milliseconds. */
function startPulse(machine: MachineSurface) {
  const stopping = new AbortController();
  const bare = createServer((_request, reply) => void reply.end("ok"));
  const ours: number[] = [];
  const theirs: number[] = [];
  const running = (async () => {
    await new Promise<void>((resolve) => bare.listen(0, "127.0.0.1", resolve));
    const { port } = bare.address() as { port: number };
    while (!stopping.signal.aborted) {
      for (const [url, times] of [
        [`${machine.url}/health`, ours],
        [`http://127.0.0.1:${port}/`, theirs],
      ] as const) {
        const startedAtMs = performance.now();
        await (await fetch(url)).text();
        times.push(performance.now() - startedAtMs);
      }
      await sleep(5);
    }
    bare.closeAllConnections();
    bare.close();
  })();
  return {
    stop: async () => {
      stopping.abort();
      await running;
      return { ours: median(ours), bare: median(theirs) };
    },
  };
}

/** One slow answer means that another process had the core; a blocking upload would slow down most of them. */
function median(times: number[]): number {
  return times.sort((one, other) => one - other)[Math.floor(times.length / 2)] ?? 0;
}

/** The most bytes of buffers that were in use at any look, beyond those at the start. */
function watchHeldBytes(): { readonly measure: () => Promise<void>; readonly maxBytes: () => number } {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  collect();
  const before = process.memoryUsage().arrayBuffers;
  let maxBytes = 0;
  return {
    measure: async () => {
      // What is collected is given back in the background, on a busy machine not at once: what is held stays.
      let held = Infinity;
      for (let round = 0; round < 3 || (held > tolerable && round < 200); round += 1) {
        collect();
        await sleep(5);
        held = process.memoryUsage().arrayBuffers - before;
      }
      maxBytes = Math.max(maxBytes, held);
    },
    maxBytes: () => maxBytes,
  };
}
