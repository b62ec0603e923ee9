import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ApplicationDatabase } from "../database/application-database.ts";
import { openTestDatabase } from "../testing/test-database.ts";
import type { ConversationRow } from "../journal/journal.ts";
import { AppConversationStore, type AppConversationRow } from "./app-conversation-store.ts";
import {
  countConversations,
  listConversations,
  type AppConversationSort,
  type ListDeps,
  type ListFilter,
} from "./list-conversations.ts";

type Log = Pick<ConversationRow, "id" | "title" | "updatedAtMicros">;

const scope = new AsyncDisposableStack();
const rows: AppConversationRow[] = [];
const logs = new Map<string, Log>();
let database: ApplicationDatabase;
let deps: ListDeps;
beforeAll(async () => {
  const folder = scope.use(await mkdtempDisposable(join(tmpdir(), "convoke-list-")));
  database = scope.use(await openTestDatabase(folder.path));
  const store = new AppConversationStore(database);
  for (let number = 0; number < 40; number++) {
    const id = `${String((number * 7) % 40).padStart(8, "0")}-0000-7000-8000-000000000000`;
    const row = {
      id,
      ownerId: number % 5 === 0 ? "bob" : "ada",
      sandboxId: `box${number % 3}`,
      parentId: number % 8 === 7 ? rows[0]!.id : null,
      workingDir: "/workspace",
      facts: {
        selectedRepository: null,
        selectedBranch: null,
        gitProvider: null,
        trigger: null,
        prNumbers: [],
        isPublic: null,
      },
      // Several in one millisecond.
      createdAtMs: 1_000 + Math.floor(number / 4),
    };
    rows.push(row);
    logs.set(id, {
      id,
      title: number % 6 === 0 ? null : `Title ${number % 4} 100%_x`,
      updatedAtMicros: 5_000_000 - number * 10,
    });
    await store.insert(row);
  }
  const journal = {
    getConversations: async (ids: readonly string[]) =>
      ids.map((id) => (logs.get(id) ?? null) as ConversationRow | null),
  };
  deps = { store, journal };
});
afterAll(() => scope.disposeAsync());

const filters: readonly Omit<ListFilter, "ownerId">[] = [
  { withSubConversations: false },
  { withSubConversations: true },
  { withSubConversations: true, sandboxId: "box1" },
  { withSubConversations: true, createdGteMs: 1_003, createdLtMs: 1_008 },
  { withSubConversations: true, titleContains: "tITLE 2" },
  {
    withSubConversations: false,
    titleContains: "100%_",
    updatedGteMicros: 4_999_700,
    updatedLtMicros: 4_999_950,
  },
  { withSubConversations: true, titleContains: "nothing" },
];
const sorts: readonly AppConversationSort[] = [
  "CREATED_AT",
  "CREATED_AT_DESC",
  "UPDATED_AT",
  "UPDATED_AT_DESC",
  "TITLE",
  "TITLE_DESC",
];

test("P39: every filter in every order and page size is what a simple list gives, each once, pages full", async () => {
  for (const filter of filters) {
    const passing = rows.filter((row) => passesSimply(row, filter));
    expect(await countConversations(deps, { ...filter, ownerId: "ada" })).toBe(passing.length);
    for (const sort of sorts) {
      const wanted = passing.toSorted(simpleOrder(sort)).map(({ id }) => id);
      for (const limit of [1, 3, 100]) {
        const got: string[] = [];
        for (let pageId: string | null = ""; pageId !== null;) {
          const page = await listConversations(deps, {
            ...filter,
            ownerId: "ada",
            sort,
            limit,
            ...(pageId === "" ? {} : { pageId }),
          });
          if (page.nextPageId !== null) expect(page.rows).toHaveLength(limit);
          got.push(...page.rows.map(({ id }) => id));
          pageId = page.nextPageId;
        }
        expect(got, `${JSON.stringify(filter)} ${sort} ${limit}`).toEqual(wanted);
      }
    }
  }
});

test("a page id of another user is unknown", async () => {
  const theirs = rows.find(({ ownerId }) => ownerId === "bob")!.id;
  const query = {
    ownerId: "ada",
    withSubConversations: true,
    sort: "CREATED_AT",
    limit: 5,
    pageId: theirs,
  } as const;
  await expect(listConversations(deps, query)).rejects.toThrow("no conversation");
});

function passesSimply(row: AppConversationRow, filter: Omit<ListFilter, "ownerId">): boolean {
  const { title, updatedAtMicros } = logs.get(row.id)!;
  const { titleContains: text = "", updatedGteMicros = 0, updatedLtMicros = Infinity } = filter;
  const { createdGteMs = 0, createdLtMs = Infinity, sandboxId = row.sandboxId } = filter;
  return (
    row.ownerId === "ada" &&
    (filter.withSubConversations || row.parentId === null) &&
    row.sandboxId === sandboxId &&
    row.createdAtMs >= createdGteMs &&
    row.createdAtMs < createdLtMs &&
    (title ?? "").toLowerCase().includes(text.toLowerCase()) &&
    updatedAtMicros >= updatedGteMicros &&
    updatedAtMicros < updatedLtMicros
  );
}

function simpleOrder(sort: AppConversationSort) {
  const key = (row: AppConversationRow): string => {
    const log = logs.get(row.id)!;
    if (sort.startsWith("TITLE")) return log.title ?? "";
    return String(sort.startsWith("UPDATED") ? log.updatedAtMicros : row.createdAtMs).padStart(20, "0");
  };
  return (left: AppConversationRow, right: AppConversationRow): number => {
    const [one, other] = [left, right].map((row) => [key(row), row.id] as const) as [
      readonly [string, string],
      readonly [string, string],
    ];
    const order = one[0] === other[0] ? (one[1] < other[1] ? -1 : 1) : one[0] < other[0] ? -1 : 1;
    return sort.endsWith("_DESC") ? -order : order;
  };
}
