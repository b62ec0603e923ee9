import { join } from "node:path";
import { openTemporaryDirectory } from "@convoke/tool-host/testing";
import { expect, test } from "vitest";
import { ConversationRows } from "./conversation-rows.ts";
import { SummarySearch } from "./summary-search.ts";
import { openWriterDatabase } from "./schema.ts";

test("of the many ways to put a filter together only the last 64 are kept ready", async () => {
  await using folder = await openTemporaryDirectory();
  const database = openWriterDatabase(join(folder.path, "journal.db"));
  try {
    const search = new SummarySearch(database, new ConversationRows(database, () => null));
    const prepare = database.prepare.bind(database);
    let count = 0;
    database.prepare = (sql) => {
      count += 1;
      return prepare(sql);
    };
    const prepared = (statuses: number): number => {
      const before = count;
      const names = Array.from({ length: statuses }, (_, index) => `status ${index}`);
      expect(search.search({ ownerId: "me", limit: 5, statuses: names }).items).toEqual([]);
      return count - before;
    };
    for (let statuses = 1; statuses <= 64; statuses += 1) expect(prepared(statuses)).toBe(1);
    expect(prepared(1)).toBe(0);
    expect(prepared(65)).toBe(1);
    // What was asked longest ago has gone, what was just asked again has not.
    expect(prepared(1)).toBe(0);
    expect(prepared(2)).toBe(1);
  } finally {
    database.close();
  }
});
