import pg from "pg";
import { expect, test, vi } from "vitest";
import { DatabaseUnavailableError } from "../../lib/database-unavailable.ts";
import { openPool } from "./postgres-pool.ts";
import { classifyingErrors } from "./postgres-client.ts";

test("who asks a pool that has ended is told that the database is unavailable", async () => {
  const pool = openPool({ url: "postgres://127.0.0.1:9/none", name: "test", size: 1 }, () => {});
  await pool.end();
  await expect((async () => pool.query("SELECT 1"))()).rejects.toBeInstanceOf(DatabaseUnavailableError);
});

test("an answer that comes at once is not waited for any more", () => {
  const watch = vi.fn(() => () => {});
  const onAnswer = vi.fn();
  const ask = classifyingErrors(
    (callback: (error: Error) => void) => callback(new pg.DatabaseError("no", 0, "error")),
    watch,
  );
  ask(onAnswer);
  expect(onAnswer).toHaveBeenCalledOnce();
  expect(watch).not.toHaveBeenCalled();
});

test("what is answered later is waited for until then", () => {
  const stop = vi.fn();
  let answer: (error: null) => void = () => {};
  const ask = classifyingErrors(
    (callback: (error: null) => void) => (answer = callback),
    () => stop,
  );
  ask(() => {});
  expect(stop).not.toHaveBeenCalled();
  answer(null);
  expect(stop).toHaveBeenCalledOnce();
});
