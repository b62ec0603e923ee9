import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { openTemporaryDirectory } from "@convoke/tool-host/testing";
import { expect, test } from "vitest";
import type { ApplicationDatabase } from "../database/application-database.ts";
import { createSecretBox } from "../security/seal.ts";
import { openTestDatabase } from "../testing/test-database.ts";
import { LoginStates, loginStateMs, type LoginState } from "./login-states.ts";

type Node = { readonly states: LoginStates; readonly database: ApplicationDatabase };
type Opened = { readonly one: Node; readonly other: Node; readonly folder: string; nowMs: number };

/** Two nodes on one store with one clock. */
async function openTwo(): Promise<Opened & AsyncDisposable> {
  await using scope = new AsyncDisposableStack();
  const { path: folder } = scope.use(await openTemporaryDirectory());
  const secretBox = createSecretBox(Buffer.alloc(32, 7));
  const clock = { nowMs: () => opened.nowMs };
  const open = async (): Promise<Node> => {
    const database = scope.use(await openTestDatabase(folder));
    return { database, states: new LoginStates({ database, secretBox, clock }) };
  };
  const opened: Opened = { one: await open(), other: await open(), folder, nowMs: 1_000_000_000 };
  const owned = scope.move();
  return Object.assign(opened, { [Symbol.asyncDispose]: () => owned.disposeAsync() });
}

const begun: LoginState = {
  issuer: "https://id.example.org",
  redirectUri: "https://agents.example.org/api/auth/oidc/callback",
  verifier: "canary-verifier",
  nonce: "canary-nonce",
  returnTo: "/c/1",
};

test("a login that one node began is finished once, on any node", async () => {
  await using both = await openTwo();
  const { state, browserSecret } = (await both.one.states.begin(begun, "192.0.2.1"))!;
  expect(await both.other.states.take(state, browserSecret)).toEqual(begun);
  expect(await both.one.states.take(state, browserSecret)).toBeNull();
});

test("of two concurrent uses one succeeds", async () => {
  await using both = await openTwo();
  const { state, browserSecret } = (await both.one.states.begin(begun, "192.0.2.1"))!;
  const nodes = [both.one, both.other];
  const taken = await Promise.all(nodes.map(({ states }) => states.take(state, browserSecret)));
  expect(taken.filter((found) => found !== null)).toEqual([begun]);
});

test("another browser neither finishes it nor uses it up", async () => {
  await using both = await openTwo();
  const { states } = both.one;
  const mine = (await states.begin(begun, "192.0.2.1"))!;
  const theirs = (await states.begin(begun, "192.0.2.2"))!;
  expect(await states.take(mine.state, theirs.browserSecret)).toBeNull();
  expect(await states.take(mine.state, "")).toBeNull();
  expect(await states.take(`${mine.state}"`, mine.browserSecret)).toBeNull();
  expect(await states.take(mine.state, mine.browserSecret)).toEqual(begun);
});

test("it ends in ten minutes, and the next one removes it", async () => {
  await using both = await openTwo();
  const { states, database } = both.one;
  const late = (await states.begin(begun, "192.0.2.1"))!;
  const later = (await states.begin(begun, "192.0.2.1"))!;
  expect(loginStateMs).toBe(600_000);
  both.nowMs += loginStateMs - 1;
  expect(await states.take(late.state, late.browserSecret)).toEqual(begun);
  both.nowMs += 1;
  expect(await states.take(later.state, later.browserSecret)).toBeNull();
  await states.begin(begun, "192.0.2.1");
  both.nowMs += loginStateMs;
  await states.begin(begun, "192.0.2.1");
  expect(await database.tables.selectFrom("login_states").select("digest").execute()).toHaveLength(1);
});

test("one address has at most a hundred, and pushes out none of another", async () => {
  await using both = await openTwo();
  const { states } = both.one;
  const other = (await states.begin(begun, "192.0.2.2"))!;
  const first = (await states.begin(begun, "192.0.2.1"))!;
  for (let count = 0; count < 100; count += 1) {
    both.nowMs += 1;
    await states.begin(begun, "192.0.2.1");
  }
  expect(await states.take(first.state, first.browserSecret)).toBeNull();
  expect(await states.take(other.state, other.browserSecret)).toEqual(begun);
});

test("above ten thousand none is added until some have ended", async () => {
  await using both = await openTwo();
  const { states, database } = both.one;
  const rows = Array.from({ length: 10_000 }, (_, index) => ({
    digest: `${index}`,
    sealed_state: "",
    address: `${index}`,
    ends_at: both.nowMs + 1,
  }));
  while (rows.length > 0)
    await database.tables.insertInto("login_states").values(rows.splice(0, 500)).execute();
  expect(await states.begin(begun, "192.0.2.1")).toBeNull();
  both.nowMs += 1;
  expect(await states.begin(begun, "192.0.2.1")).not.toBeNull();
});

test("P13: the store has neither state nor secret, verifier or nonce as plain text", async () => {
  await using both = await openTwo();
  const { state, browserSecret } = (await both.one.states.begin(begun, "192.0.2.1"))!;
  const rows = await both.one.database.tables.selectFrom("login_states").selectAll().execute();
  const texts = [JSON.stringify(rows)];
  for (const file of await readdir(both.folder))
    texts.push(await readFile(join(both.folder, file), "latin1"));
  for (const text of texts)
    for (const hidden of [state, browserSecret, begun.verifier, begun.nonce])
      expect(text).not.toContain(hidden);
});
