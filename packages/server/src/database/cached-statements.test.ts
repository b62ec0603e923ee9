import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { CachedStatements } from "./cached-statements.ts";

test("a statement is prepared once, and the longest unused ones are forgotten", () => {
  using database = new DatabaseSync(":memory:");
  const statements = new CachedStatements(database);
  const first = statements.get("SELECT 0 AS number");
  for (let number = 1; number < 500; number += 1) {
    expect(statements.get(`SELECT ${number} AS number`).get()).toEqual({ number });
    if (number < 400) expect(statements.get("SELECT 0 AS number")).toBe(first);
  }
  expect(statements.get("SELECT 499 AS number")).toBe(statements.get("SELECT 499 AS number"));
  expect(statements.get("SELECT 1 AS number").get()).toEqual({ number: 1 });
});

test("a pragma does its work each time", () => {
  using database = new DatabaseSync(":memory:");
  const statements = new CachedStatements(database);
  const synchronous = (): unknown => database.prepare("PRAGMA synchronous").get()?.["synchronous"];
  for (const _ of [1, 2]) {
    statements.get("PRAGMA synchronous = NORMAL").run();
    expect(synchronous()).toBe(1);
    statements.get("PRAGMA synchronous = FULL").run();
    expect(synchronous()).toBe(2);
  }
});

test("a statement that is kept follows a change of its tables", () => {
  using database = new DatabaseSync(":memory:");
  const statements = new CachedStatements(database);
  database.exec("CREATE TABLE things (name TEXT) STRICT; INSERT INTO things VALUES ('one')");
  expect(statements.get("SELECT * FROM things").all()).toEqual([{ name: "one" }]);
  database.exec("ALTER TABLE things ADD COLUMN size INTEGER");
  expect(statements.get("SELECT * FROM things").all()).toEqual([{ name: "one", size: null }]);
});
