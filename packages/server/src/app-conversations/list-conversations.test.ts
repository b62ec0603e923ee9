import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openTestJournal } from "../testing/test-database.ts";
import { sampleConversation } from "../journal/sample-events.ts";
import { AppConversationStore, writeFacts, type AppConversationRow } from "./app-conversation-store.ts";
import {
  countConversations,
  listConversations,
  type AppConversationSort,
  type ListFilter,
} from "./list-conversations.ts";

const scope = new AsyncDisposableStack();
const rows: AppConversationRow[] = [];
let store: AppConversationStore;
beforeAll(async () => {
  const folder = scope.use(await mkdtempDisposable(join(tmpdir(), "convoke-list-")));
  const journal = scope.use(await openTestJournal(folder.path));
  store = new AppConversationStore(journal);
  const facts = {
    selectedRepository: null,
    selectedBranch: null,
    gitProvider: null,
    trigger: null,
    prNumbers: [],
    isPublic: null,
  };
  for (let number = 0; number < 40; number++) {
    const id = `${String((number * 7) % 40).padStart(8, "0")}-0000-7000-8000-000000000000`;
    const row = {
      id,
      ownerId: number % 5 === 0 ? "bob" : "ada",
      sandboxId: `box${number % 3}`,
      parentId: number % 8 === 7 ? rows[0]!.id : null,
      workingDir: "/workspace",
      facts,
      // Several in one millisecond.
      createdAtMs: 1_000 + Math.floor(number / 4),
      title: number % 6 === 0 ? null : `Title ${number % 4} 100%_x`,
      updatedAtMicros: 5_000_000 - number * 10,
    };
    rows.push(row);
    const { ownerId, sandboxId, title, updatedAtMicros } = row;
    const shared = { ownerId, sandboxId, title, updatedAtMicros, createdAtMicros: row.createdAtMs * 1000 };
    await journal.createConversation(
      sampleConversation(id, { ...shared, appFacts: writeFacts(facts, row.parentId) }),
    );
    // Others in the same sandbox are not the app's.
    await journal.createConversation(sampleConversation(`${id.slice(0, -1)}1`, shared));
  }
});
afterAll(() => scope.disposeAsync());

const filters: readonly Omit<ListFilter, "ownerId">[] = [
  { parentIds: null },
  {},
  { sandboxId: "box1" },
  { createdGteMicros: 1_003_000, createdLtMicros: 1_008_000 },
  { titleContains: "tITLE 2" },
  {
    parentIds: null,
    titleContains: "100%_",
    updatedGteMicros: 4_999_700,
    updatedLtMicros: 4_999_950,
  },
  { titleContains: "nothing" },
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
    expect(await countConversations(store, { ...filter, ownerId: "ada" })).toBe(passing.length);
    for (const sort of sorts) {
      const wanted = passing.toSorted(simpleOrder(sort)).map(({ id }) => id);
      for (const limit of [1, 3, 100]) {
        const got: string[] = [];
        for (let pageId: string | null = ""; pageId !== null;) {
          const page = await listConversations(store, {
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
    sort: "CREATED_AT",
    limit: 5,
    pageId: theirs,
  } as const;
  await expect(listConversations(store, query)).rejects.toThrow("no conversation");
});

function passesSimply(row: AppConversationRow, filter: Omit<ListFilter, "ownerId">): boolean {
  const { title, updatedAtMicros } = row;
  const { titleContains: text = "", updatedGteMicros = 0, updatedLtMicros = Infinity } = filter;
  const { createdGteMicros = 0, createdLtMicros = Infinity, sandboxId = row.sandboxId } = filter;
  return (
    row.ownerId === "ada" &&
    (filter.parentIds === undefined || row.parentId === null) &&
    row.sandboxId === sandboxId &&
    row.createdAtMs * 1000 >= createdGteMicros &&
    row.createdAtMs * 1000 < createdLtMicros &&
    (title ?? "").toLowerCase().includes(text.toLowerCase()) &&
    updatedAtMicros >= updatedGteMicros &&
    updatedAtMicros < updatedLtMicros
  );
}

function simpleOrder(sort: AppConversationSort) {
  const key = (row: AppConversationRow): string => {
    if (sort.startsWith("TITLE")) return row.title ?? "";
    if (sort.startsWith("UPDATED")) return String(row.updatedAtMicros).padStart(20, "0");
    // In one millisecond the one that was made first is the older one.
    return String(rows.indexOf(row)).padStart(20, "0");
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
