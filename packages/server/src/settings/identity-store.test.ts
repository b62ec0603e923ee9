import { openTemporaryDirectory } from "@convoke/tool-host/testing";
import { expect, test } from "vitest";
import { silentLogger } from "../lib/logger.ts";
import { openTestDatabase, testedStore, whenSeen } from "../testing/test-database.ts";
import { IdentityStore, type PersonAtLogin } from "./identity-store.ts";
import { KeyStore } from "./key-store.ts";
import { LoginStore } from "./login-store.ts";

const nowMs = 1_000_000_000;
const clock = { nowMs: () => nowMs };

type Node = { readonly identities: IdentityStore; readonly keys: KeyStore; readonly logins: LoginStore };

/** Two nodes on one store, as far as one process can have them. */
async function openTwo(): Promise<{ readonly one: Node; readonly other: Node } & AsyncDisposable> {
  await using scope = new AsyncDisposableStack();
  const { path } = scope.use(await openTemporaryDirectory());
  const open = async (): Promise<Node> => {
    const database = scope.use(await openTestDatabase(path));
    const deps = { database, clock, logger: silentLogger };
    const keys = scope.use(await KeyStore.open(deps));
    const logins = scope.use(await LoginStore.open({ ...deps, keyMarks: [] }));
    return { identities: new IdentityStore({ database, users: keys.users, clock }), keys, logins };
  };
  const [one, other] = [await open(), await open()];
  const owned = scope.move();
  return { one, other, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

const person = (subject: string, given: Partial<PersonAtLogin> = {}): PersonAtLogin => ({
  issuer: "https://id.example.org",
  subject,
  role: "member",
  name: `${subject}@example.org`,
  ...given,
});

test("the first login makes a user, later ones find it on every node and renew its role", async () => {
  await using both = await openTwo();
  const { one, other } = both;
  const made = await one.identities.logIn(person("ada", { role: "admin" }));
  expect(made).toEqual({ userId: "ada@example.org", isNew: true });
  expect(one.keys.users.roleOf("ada@example.org")).toBe("admin");
  const again = await other.identities.logIn(person("ada", { role: "viewer", name: "renamed@example.org" }));
  expect(again).toEqual({ userId: "ada@example.org", isNew: false });
  expect(other.keys.users.roleOf("ada@example.org")).toBe("viewer");
  await whenSeen(() => expect(one.keys.users.roleOf("ada@example.org")).toBe("viewer"));
  expect(await one.keys.users.list()).toEqual([
    { id: "ada@example.org", role: "viewer", createdAtMs: nowMs, disabledAtMs: null },
  ]);
});

test("the same subject of another issuer is another person", async () => {
  await using both = await openTwo();
  const { identities } = both.one;
  const first = await identities.logIn(person("ada", { name: null }));
  const second = await identities.logIn(person("ada", { name: null, issuer: "https://other.example.org" }));
  expect(first!.userId).toMatch(/^user-[0-9a-f]{12}$/);
  expect(second!.userId).not.toBe(first!.userId);
});

test("a user who came into being by a key, and the user local, are never taken over", async () => {
  await using both = await openTwo();
  const { identities, keys } = both.one;
  await keys.create("ada@example.org", "");
  const taken = await identities.logIn(person("ada", { role: "admin" }));
  expect(taken!.userId).toMatch(/^ada@example\.org-[0-9a-f]{12}$/);
  expect(keys.users.roleOf("ada@example.org")).toBe("member");
  const local = await identities.logIn(person("eve", { name: "local" }));
  expect(local!.userId).toMatch(/^local-[0-9a-f]{12}$/);
});

test.each(["", " ", "../x", "a b", "ä@example.org", "x".repeat(65), "@example.org"])(
  "%j is no name, so the user has one that is made of the identity",
  async (name) => {
    await using both = await openTwo();
    const made = await both.one.identities.logIn(person("ada", { name }));
    expect(made!.userId).toMatch(/^user-[0-9a-f]{12}$/);
  },
);

test("first logins of one person at once make one user, those of two with one name make two", async () => {
  await using both = await openTwo();
  // SQLite's lock is waited for by the whole thread, which then cannot end what it waits for.
  const second = testedStore === "sqlite" ? both.one : both.other;
  const name = "ada@example.org";
  const made = await Promise.all(
    [both.one, second].flatMap(({ identities }) => [
      identities.logIn(person("1", { name })),
      identities.logIn(person("2", { name })),
    ]),
  );
  expect(made.filter((found) => found!.isNew)).toHaveLength(2);
  const [first, other] = made.map((found) => found!.userId);
  expect(new Set(made.map((found) => found!.userId))).toEqual(new Set([first, other]));
  expect(first).not.toBe(other);
});

test("a disabled user has no keys, logins or tickets on any node, and logs in again only once enabled", async () => {
  await using both = await openTwo();
  const { one, other } = both;
  const { userId } = (await one.identities.logIn(person("ada")))!;
  const { key, entry } = await one.keys.create(userId, "");
  const owner = { userId, keyMark: "" };
  const login = await one.logins.create(owner, { client: "", address: "" });
  const { ticket } = await one.logins.createTicket(owner);
  expect(await other.keys.users.disable("nobody", nowMs)).toBe(false);
  expect(await other.keys.users.disable(userId, nowMs)).toBe(true);
  expect(other.keys.users.isDisabled(userId)).toBe(true);
  await whenSeen(() => {
    expect(one.keys.find(key)).toBeNull();
    expect(one.keys.get(entry.id)).toBeNull();
    expect(one.logins.find(login)).toBeNull();
    expect(one.keys.users.isDisabled(userId)).toBe(true);
  });
  expect(await one.logins.redeem(ticket)).toBeNull();
  expect(await one.identities.logIn(person("ada", { role: "admin" }))).toBeNull();
  expect(one.keys.users.roleOf(userId)).toBe("member");
  await expect(one.keys.create(userId, "")).rejects.toThrow(/disabled/);
  expect(await other.keys.users.enable(userId)).toBe(true);
  await whenSeen(() => expect(one.keys.users.isDisabled(userId)).toBe(false));
  expect(one.keys.find(key)).toBeNull();
  expect(await one.identities.logIn(person("ada"))).toEqual({ userId, isNew: false });
});

test("the user local is never disabled", async () => {
  await using both = await openTwo();
  await expect(both.one.keys.users.disable("local", nowMs)).rejects.toThrow(/cannot be disabled/);
});
