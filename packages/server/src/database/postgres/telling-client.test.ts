import pg from "pg";
import { expect, test, vi } from "vitest";
import { DatabaseAwayError } from "../../lib/database-unavailable.ts";
import { openPool } from "./postgres-pool.ts";
import { telling } from "./telling-client.ts";

test("who asks a pool that has ended is told that the database is away", async () => {
  const pool = openPool({ url: "postgres://127.0.0.1:9/none", name: "test", size: 1 }, () => {});
  await pool.end();
  await expect((async () => pool.query("SELECT 1"))()).rejects.toBeInstanceOf(DatabaseAwayError);
});

test("an answer that comes at once is not waited for any more", () => {
  const watch = vi.fn(() => () => {});
  const told = vi.fn();
  const ask = telling(
    (callback: (error: Error) => void) => callback(new pg.DatabaseError("no", 0, "error")),
    watch,
  );
  ask(told);
  expect(told).toHaveBeenCalledOnce();
  expect(watch).not.toHaveBeenCalled();
});

test("what is answered later is waited for until then", () => {
  const stop = vi.fn();
  let answer: (error: null) => void = () => {};
  const ask = telling(
    (callback: (error: null) => void) => (answer = callback),
    () => stop,
  );
  ask(() => {});
  expect(stop).not.toHaveBeenCalled();
  answer(null);
  expect(stop).toHaveBeenCalledOnce();
});
