import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { Agent, request as sendRequest } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { expect, test } from "vitest";
import { openFuzzServer } from "./fuzz-server.ts";
import { LivePool } from "./live-pool.ts";

/** Number of requests; `CONVOKE_HOSTILE_PATHS=10000` is the long version. */
const count = Number(process.env["CONVOKE_HOSTILE_PATHS"] ?? "300");
const canary = "outside-canary-3131";
const boundary = "hostile-boundary";

type Hostile = { readonly plain: string; readonly encoded: string; readonly relative: string };
type Target = readonly [method: string, target: (hostile: Hostile) => string];

/** Every route of a machine with a root, of names that become file names, and of ids; `@name@` stands for an existing thing. */
const targets: readonly Target[] = [
  ...["@sandbox_id@"].flatMap((id): Target[] => [
    ["GET", ({ plain }) => `/sandboxes/${id}/api/file/download?path=${plain}`],
    ["GET", ({ encoded }) => `/sandboxes/${id}/api/file/download/${encoded}`],
    ["POST", ({ plain }) => `/sandboxes/${id}/api/file/upload?path=${plain}`],
    ["POST", ({ encoded }) => `/sandboxes/${id}/api/file/upload/${encoded}`],
    ["POST", ({ plain }) => `/sandboxes/${id}/api/file/create_directory?path=${plain}`],
    ["GET", ({ plain }) => `/sandboxes/${id}/api/file/search_subdirs?path=${plain}&include_hidden=true`],
    ["GET", ({ plain }) => `/sandboxes/${id}/api/file/archive?path=${plain}`],
    ["GET", ({ plain }) => `/sandboxes/${id}/api/git/changes?path=${plain}`],
    ["GET", ({ plain }) => `/sandboxes/${id}/api/git/diff?path=${plain}`],
    ["GET", ({ encoded }) => `/sandboxes/${id}/api/git/diff/${encoded}`],
    ["GET", ({ plain }) => `/sandboxes/${id}/api/git/commits?path=${plain}`],
    ["GET", ({ encoded }) => `/sandboxes/${id}/${encoded}`],
  ]),
  ["GET", ({ encoded }) => `/sandboxes/${encoded}/api/file/download?path=a.txt`],
  ["GET", ({ relative }) => `/api/conversations/@conversation_id@/workspace/${relative}`],
  ["GET", ({ encoded }) => `/api/conversations/@conversation_id@/workspace/${encoded}`],
  ["GET", ({ encoded }) => `/api/conversations/${encoded}/workspace/a.txt`],
  ["GET", ({ encoded }) => `/api/file/download-trajectory/${encoded}`],
  ["GET", ({ plain }) => `/api/v1/app-conversations/@app_conversation_id@/file?file_path=${plain}`],
  ["GET", ({ plain }) => `/api/v1/app-conversations/@app_conversation_id@/git/changes?path=${plain}`],
  ["GET", ({ plain }) => `/api/v1/app-conversations/@app_conversation_id@/git/diff?path=${plain}`],
  ["GET", ({ encoded }) => `/api/v1/app-conversations/${encoded}/file?file_path=a.txt`],
  ...["skills", "plugins"].flatMap((kind): Target[] => [
    ["GET", ({ encoded }) => `/api/${kind}/installed/${encoded}`],
    ["DELETE", ({ encoded }) => `/api/${kind}/installed/${encoded}`],
    ["POST", ({ encoded }) => `/api/${kind}/installed/${encoded}/refresh`],
  ]),
  ["GET", ({ encoded }) => `/api/settings/secrets/${encoded}`],
  ["GET", ({ encoded }) => `/api/profiles/${encoded}`],
  ["GET", ({ relative }) => `/assets/${relative}`],
  ["GET", ({ relative }) => `/${relative}`],
];

test(
  "P31: hostile paths, names and ids on every route of a whole server reach nothing outside of the root",
  async () => {
    await using fuzzed = await openFuzzServer();
    const { server, root } = fuzzed;
    const outside = join(server.folder, "outside");
    await fillOutside(outside, root);
    const pool = await openPool(server, root);
    const before = await listTree(outside);
    const beside = await readdir(server.folder);
    const swapping = swap(root, outside);
    using agent = closing(new Agent({ keepAlive: true, maxSockets: 4 }));
    const statuses: Record<string, number> = {};
    const findings: string[] = [];
    let sent = 0;
    const ask = async (index: number): Promise<void> => {
      if (index % 500 === 0) await pool.refresh();
      const [method, toTarget] = targets[index % targets.length]!;
      const [hostile] = fc.sample(hostileArbitrary(root, outside), { seed: 31_000_003 + index, numRuns: 1 });
      const target = pool.fill(toTarget(hostile!), index);
      const reply = await send(server.url, agent.agent, server.key, method, target);
      sent += 1;
      statuses[reply.status] = (statuses[reply.status] ?? 0) + 1;
      const isWrong =
        (reply.status >= 500 && reply.status !== 501 && reply.status !== 503) ||
        [canary, "root:x:"].some((text) => reply.bytes.includes(text));
      if (isWrong)
        findings.push(`${method} ${target}: ${reply.status} ${reply.bytes.toString("utf8", 0, 200)}`);
    };
    const waiting = Array.from({ length: count }, (_, index) => index);
    const worker = async (): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await ask(next);
    };
    try {
      await Promise.all(Array.from({ length: 4 }, worker));
    } finally {
      await swapping.stop();
    }
    console.log(`${sent} hostile requests: ${JSON.stringify(statuses)}`);
    const broken = server.log.filter(({ level }) => level === "error");
    expect([...findings, ...broken.map((line) => JSON.stringify(line))]).toEqual([]);
    expect(sent).toBe(count);
    expect(await listTree(outside)).toEqual(before);
    expect(await readdir(server.folder)).toEqual(beside);
    // Not everything was refused: links and dots that stay inside are followed.
    expect(statuses["200"]).toBeGreaterThan(0);
    expect(statuses["400"]).toBeGreaterThan(0);
  },
  300_000 + count * 60,
);

async function openPool(server: Awaited<ReturnType<typeof openFuzzServer>>["server"], root: string) {
  const pool = new LivePool(server, root);
  await pool.refresh();
  const sandbox = pool.fill("@sandbox_id@", 0);
  expect((await server.call("GET", `/sandboxes/${sandbox}/api/file/download?path=${root}/a.txt`)).text).toBe(
    "one\ntwo\n",
  );
  return pool;
}

async function fillOutside(outside: string, root: string): Promise<void> {
  await mkdir(outside);
  await writeFile(join(outside, "secret"), canary);
  await writeFile(join(outside, "index.html"), canary);
  await symlink(outside, join(root, "away"));
  await symlink("../..", join(root, "up"));
  await symlink(join(outside, "secret"), join(root, "file-link"));
  await symlink("sub", join(root, "inward"));
  await symlink("loop", join(root, "loop"));
  await mkdir(join(root, "kept"));
  await writeFile(join(root, "kept", "secret"), "inside");
}

const parts = [
  "..",
  ".",
  "",
  "~",
  "away",
  "up",
  "inward",
  "loop",
  "file-link",
  "place",
  "secret",
  "index.html",
  "outside",
  "sub",
  "a.txt",
  "b.txt",
  "new",
  "..\\..",
  "C:\\Windows\\win.ini",
  "\\\\?\\C:\\x",
  "\\\\host\\share",
  "NUL",
  "con.txt",
  "a:stream",
  "..;",
  "...",
  "-rf",
  "x\0y",
  "\0",
  "\n",
  "\u202e",
  "\u2025",
  "\uff0e\uff0e",
  "\u2215",
  "e\u0301",
  "%2e%2e",
  "%2e%2e%2f",
  "n".repeat(300),
  "proc/self/root",
  "etc/passwd",
  "dev/zero",
  ".git/config",
];

function hostileArbitrary(root: string, outside: string): fc.Arbitrary<Hostile> {
  const starts = [root, root, root, `${root}/place`, `${root}/..`, `${root}/away`, `${root}-other`];
  const absolute = fc.constantFrom(...starts, outside, "", "/", "//", "/proc/self/root", `file://${outside}`);
  const rest = fc.array(
    fc.oneof(
      { weight: 8, arbitrary: fc.constantFrom(...parts) },
      { weight: 1, arbitrary: fc.string({ maxLength: 12, unit: "binary" }) },
    ),
    { minLength: 1, maxLength: 5 },
  );
  const written = fc.constantFrom<(segment: string) => string>(
    encodeText,
    // Every byte by its number, slashes as part of a segment, and doubly encoded.
    (text) => Buffer.from(text).toString("hex").replaceAll(/../g, "%$&"),
    (text) => encodeText(encodeText(text)),
    (text) => encodeText(text).replaceAll("%2F", "/"),
  );
  return fc
    .tuple(absolute, rest, written, fc.constantFrom("/", "%2F", "%5C"))
    .map(([start, names, write, separator]) => ({
      plain: encodeText([start, ...names].join("/")),
      encoded: [start, ...names].map(write).join(separator),
      relative: names.map(write).join(separator),
    }));
}

function encodeText(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

/** Alternates a folder and a link out of the root at one place, until it is stopped. */
function swap(root: string, outside: string): { readonly stop: () => Promise<void> } {
  const stopping = new AbortController();
  const [place, spare] = [join(root, "place"), join(root, "kept")];
  const swapping = (async () => {
    while (!stopping.signal.aborted) {
      // An upload may recreate the place at any moment; then the next round replaces it.
      await rm(place, { recursive: true, force: true }).catch(() => {});
      await symlink(outside, place).catch(() => {});
      await sleep(1);
      await rm(place, { recursive: true, force: true }).catch(() => {});
      await rename(spare, place).catch(() => {});
      await sleep(1);
      await rename(place, spare).catch(() => {});
    }
  })();
  return {
    stop: async () => {
      stopping.abort();
      await swapping;
    },
  };
}

type Reply = { readonly status: number; readonly bytes: Buffer };

/** The raw path: higher-level clients would normalise it. */
async function send(url: string, agent: Agent, key: string, method: string, path: string): Promise<Reply> {
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  const isUpload = method === "POST" && path.includes("/file/upload");
  const body = isUpload
    ? `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="x"\r\n\r\noverwritten\r\n--${boundary}--\r\n`
    : "";
  const { hostname, port } = new URL(url);
  const outgoing = sendRequest({
    hostname,
    port,
    agent,
    method,
    path,
    signal: AbortSignal.timeout(90_000),
    headers: {
      "x-session-api-key": key,
      "content-length": Buffer.byteLength(body),
      ...(isUpload ? { "content-type": `multipart/form-data; boundary=${boundary}` } : {}),
    },
  });
  outgoing.once("error", (error) => reject(new Error(`${method} ${path}: ${error.message}`)));
  outgoing.once("response", (response) => {
    response
      .toArray()
      .then(
        (chunks: Buffer[]) => resolve({ status: response.statusCode ?? 0, bytes: Buffer.concat(chunks) }),
        reject,
      );
  });
  outgoing.end(body);
  return await promise;
}

function closing(agent: Agent): Disposable & { readonly agent: Agent } {
  return { agent, [Symbol.dispose]: () => agent.destroy() };
}

/** Every file with its content, so that any change is visible. */
async function listTree(directory: string): Promise<string[]> {
  const names = await readdir(directory, { recursive: true });
  const files = names.map(async (name) => `${name}: ${await readFile(join(directory, name), "utf8")}`);
  return (await Promise.all(files)).sort();
}
