import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readAuditPage, type AuditPlaces } from "../../observability/read-audit-page.ts";
import { openKeyStore } from "../../settings/open-stores.ts";
import { startTestServer } from "../../testing/start-server.ts";

type Page = { items: Record<string, unknown>[]; next_page_id: string | null };

test("P54: an admin pages through the audit log, the newest line first, and nobody else does", async () => {
  await using server = await startTestServer({});
  await using keys = await openKeyStore(server.dataDir);
  const { key } = await keys.store.create("bob", "");
  const { id } = await server.createConversation();
  for (let count = 0; count < 3; count += 1) await server.call("GET", `/api/conversations/${id}`);
  await server.call("GET", "/api/tools/", undefined, { "X-Session-API-Key": key });
  const read = async (query: string): Promise<Page> =>
    (await server.call("GET", `/api/audit?${query}`)).json as Page;
  await expect.poll(async () => (await read("user=bob")).items).toHaveLength(1);
  expect((await read("user=bob")).items).toMatchObject([
    { stream: "calls", user: "bob", route: "/api/tools/" },
  ]);
  const path = `path=/api/conversations/${id}`;
  const first = await read(`${path}&limit=2`);
  const second = await read(`${path}&limit=2&page_id=${first.next_page_id}`);
  expect([...first.items, ...second.items].map(({ n }) => n)).toEqual([4, 3, 2]);
  expect(second.next_page_id).toBe(null);
  expect((await read("path=/api/conversations/:conversation_id")).items).toHaveLength(3);
  expect((await read("since=2999-01-01T00:00:00Z")).items).toEqual([]);
  expect((await read("kind=refusals")).items).toEqual([]);
  const refused = await server.call("GET", "/api/audit", undefined, { "X-Session-API-Key": key });
  expect(refused).toMatchObject({ status: 403, json: { code: "role_refused" } });
  for (const wrong of ["page_id=x", "kind=others", "limit=0"]) {
    expect((await server.call("GET", `/api/audit?${wrong}`)).status).toBe(422);
  }
});

test("lines of several streams are in the order of their times, over files that are rotated between pages", async () => {
  const folder = await mkdtemp(join(tmpdir(), "convoke-audit-"));
  const audit = join(folder, "audit");
  await mkdir(audit);
  const line = (number: number): string =>
    `{"at":"${new Date(number * 1000).toISOString()}","number":${number},"text":"${"x".repeat(number * 7)}"}\n`;
  const write = (name: string, numbers: readonly number[], rest = ""): Promise<void> =>
    writeFile(join(audit, name), numbers.map(line).join("") + rest);
  const range = (from: number, to: number, step: number): number[] =>
    Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, index) => from + index * step);
  await write("calls.1.jsonl", range(1, 99, 2));
  await write("calls.jsonl", range(101, 399, 2), '{"at":"half');
  await write("calls-2.jsonl", range(2, 400, 2));
  await write("network.jsonl", [7]);
  const found: unknown[] = [];
  let places: AuditPlaces | null = null;
  do {
    const page = await readAuditPage(audit, {
      kind: "calls",
      user: null,
      path: null,
      sinceMs: 4_000,
      limit: 60,
      places,
    });
    found.push(...page.items.map(({ number }) => number));
    if (places === null) {
      await rename(join(audit, "calls.1.jsonl"), join(audit, "calls.2.jsonl"));
      await rename(join(audit, "calls.jsonl"), join(audit, "calls.1.jsonl"));
      await write("calls.jsonl", [401]);
    }
    places = page.places;
  } while (places !== null);
  expect(found).toEqual(range(4, 400, 1).toReversed());
  await rm(folder, { recursive: true });
});
