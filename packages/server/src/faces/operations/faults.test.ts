import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DamagedEventError, JournalWriteError, LeaseLostError, type Journal } from "../../journal/journal.ts";
import { MemorySandboxes } from "../../testing/memory-sandboxes.ts";
import { startTestServer, type LogLine, type TestServer } from "../../testing/start-server.ts";

const documented = readFileSync(join(import.meta.dirname, "../../../../../docs/guides/errors.md"), "utf8");

test("P53: every code of every table has a sentence, and every one that a caller can act on has a next step", () => {
  const rows = documented.split("\n").filter((line) => /^\|(?: \d{3} +\|)? (?:`\w+`|\d{4}) +\|/.test(line));
  expect(rows.length).toBeGreaterThan(90);
  const unclear = rows.filter((row) => {
    const cells = row.split("|").map((cell) => cell.trim());
    const sentences = cells.slice(1, -1).filter((cell) => !/^(\d{3,4}|`\w+`)$/.test(cell));
    return sentences.length === 0 || sentences.some((sentence) => !/^[A-Z0-9`].+\.$/.test(sentence));
  });
  expect(unclear).toEqual([]);
});

type Shown = { readonly status: number; readonly headers: Headers; readonly json: unknown };

/** What is missing in an answer that says that something went wrong; null when it is complete. */
function whatIsMissing({ status, headers, json }: Shown, log: readonly LogLine[]): string | null {
  const id = headers.get("x-request-id");
  const ofRequest = log.filter(({ fields }) => "requestId" in fields && fields.requestId === id);
  if (!ofRequest.some(({ fields }) => "status" in fields && fields.status === status))
    return "no line in the log";
  // Pages for people have their sentence in words alone.
  if (headers.get("content-type")?.startsWith("text/html") === true) return null;
  const body = (json ?? {}) as { detail?: unknown; code?: string; error_id?: string; exception?: string };
  const inner = (json as { error?: { message: string; code: string } } | undefined)?.error;
  const code = inner?.code ?? body.code;
  if (status === 422 && Array.isArray(body.detail)) {
    const fields = body.detail as { loc: unknown[]; msg: string; type: string }[];
    const isClear = fields.every(
      ({ msg, type }) => /^\S.+\.$/s.test(msg) && documented.includes(`\`${type}\``),
    );
    return fields.length > 0 && isClear ? null : "a field without a sentence or a known type";
  }
  if (code === undefined || !documented.includes(`\`${code}\``)) return `no documented code: ${code}`;
  if (!/^[A-Z/].*\w/s.test(inner?.message ?? String(body.detail))) return "no sentence";
  const isLogged = ofRequest.some(({ fields }) => "errorId" in fields && fields.errorId === body.error_id);
  if (body.error_id !== undefined)
    return isLogged && body.exception?.includes(body.error_id) ? null : "no error id in the log";
  return null;
}

describe("P53: requests with one thing wrong, on every route that is served", () => {
  type Operation = { readonly operationId: string; readonly requestBody?: object };
  let server: TestServer;
  let operations: { readonly method: string; readonly path: string; readonly operation: Operation }[] = [];
  beforeAll(async () => {
    server = await startTestServer({ openSandboxes: async () => new MemorySandboxes() });
    const { paths } = (await server.call("GET", "/openapi.json")).json as {
      readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
    };
    operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        method: method.toUpperCase(),
        path,
        operation,
      })),
    );
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const fill = (path: string): string => path.replaceAll(/\{\w+\}/g, () => randomUUID());

  test.each([
    {
      what: "nobody's key",
      isFor: () => true,
      send: (path: string) => [path, undefined, { "X-Session-API-Key": "wrong" }] as const,
      least: 80,
    },
    {
      what: "a foreign page",
      isFor: () => true,
      send: (path: string) => [path, undefined, { Origin: "https://evil.example" }] as const,
      least: 80,
    },
    {
      what: "a body that is none of its type",
      isFor: (method: string, body: boolean) => body && method !== "GET",
      send: (path: string) => [path, 7, {}] as const,
      least: 40,
    },
    {
      what: "a name or an id that nothing has",
      isFor: (method: string, _body: boolean, path: string) => method === "GET" && path.includes("{"),
      send: (path: string) => [path, undefined, {}] as const,
      least: 20,
    },
  ])("$what: a code, a sentence, and its id in the log", async ({ isFor, send, least }) => {
    const chosen = operations.filter(({ method, path, operation }) =>
      isFor(method, operation.requestBody !== undefined, path),
    );
    const replies = await Promise.all(
      chosen.map(async ({ method, path }) => {
        const [url, body, headers] = send(fill(path));
        return { what: `${method} ${path}`, reply: await server.call(method, url, body, headers) };
      }),
    );
    const refusals = replies.filter(({ reply }) => reply.status >= 400);
    const silent = (): string[] =>
      refusals.flatMap(({ what, reply }) => {
        const missing = whatIsMissing(reply, server.log);
        return missing === null ? [] : [`${what}: ${missing} in ${reply.status} ${reply.text}`];
      });
    // A line is written when the last byte of its answer has been handed over, which may be after it was read.
    await expect.poll(silent).toEqual([]);
    expect(refusals.length).toBeGreaterThan(least);
  });
});

describe("P53: failures inside, where a request meets them", () => {
  let failure: Error | null = null;
  let server: TestServer;
  let id: string;
  beforeAll(async () => {
    server = await startTestServer({ wrapJournal: (journal) => failing(journal, () => failure) });
    ({ id } = await server.createConversation());
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const routes: readonly (readonly [string, string, (() => object)?])[] = [
    ["POST", "/api/conversations", () => server.startRequest()],
    ["GET", "/api/conversations/search"],
    ["GET", "/api/conversations/count"],
    ["GET", "/api/conversations/{id}/events/search"],
    ["GET", "/api/conversations/{id}/events/count"],
    ["GET", "/api/conversations/{id}/events/0199aaaa-0000-7000-8000-000000000000"],
    [
      "POST",
      "/api/conversations/{id}/events",
      () => ({ role: "user", content: [{ type: "text", text: "hi" }] }),
    ],
    ["POST", "/api/conversations/{id}/fork", () => ({})],
    ["GET", "/api/file/download-trajectory/{id}"],
    ["DELETE", "/api/conversations/{id}"],
  ];
  const failures = [
    {
      what: "a full disk",
      error: new JournalWriteError("canary-cause"),
      status: 503,
      code: "storage_failed",
    },
    {
      what: "another owner",
      error: new LeaseLostError("canary-cause"),
      status: 503,
      code: "owned_elsewhere",
    },
    {
      what: "a damaged event",
      error: new DamagedEventError("canary-cause", 7),
      status: 500,
      code: "event_damaged",
    },
    { what: "a bug", error: new TypeError("canary-cause"), status: 500, code: "internal_error" },
  ];

  test.each(failures)("$what", async ({ error, status, code }) => {
    const wrong: string[] = [];
    for (const [method, template, body] of routes) {
      failure = error;
      const path = template.replace("{id}", id);
      const reply = await server.call(method, path, body?.());
      failure = null;
      const isAsExpected = reply.status === status && (reply.json as { code: string }).code === code;
      if (!isAsExpected || reply.text.includes("canary")) wrong.push(`${method} ${template}: ${reply.text}`);
      await expect.poll(() => whatIsMissing(reply, server.log)).toBe(null);
    }
    expect(wrong).toEqual([]);
  });
});

/** A journal whose every call fails as long as there is a failure. */
function failing(journal: Journal, failure: () => Error | null): Journal {
  return new Proxy(journal, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== "function") return member;
      return (...values: unknown[]): unknown => {
        const error = failure();
        if (error !== null && name !== Symbol.asyncDispose) throw error;
        return Reflect.apply(member, target, values);
      };
    },
  });
}
