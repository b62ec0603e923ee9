import { expect, test } from "vitest";
import { BrowserStorage } from "../lib/browser-storage.ts";
import { LoginState } from "./login-state.ts";

function openBrowser(): { readonly storage: BrowserStorage; readonly tab: () => LoginState } {
  const stored = new Map<string, string>();
  const storage = new BrowserStorage({
    getItem: (key) => stored.get(key) ?? null,
    setItem: (key, value) => void stored.set(key, value),
    removeItem: (key) => void stored.delete(key),
  });
  return { storage, tab: () => new LoginState(storage) };
}

test("J30: a login that ends while the page is in use lapses; without one the page stays logged out", () => {
  const used = openBrowser().tab();
  used.enter("proof", "ada");
  used.refuse("proof");
  used.refuse("proof");
  expect(used.status.snapshot()).toBe("lapsed");
  expect(used.enter("another", "ada")).toBe(true);
  expect([used.status.snapshot(), used.proof]).toEqual(["in", "another"]);
  used.refuse("proof");
  expect(used.status.snapshot()).toBe("in");
  const stranger = openBrowser().tab();
  stranger.refuse(null);
  expect(stranger.status.snapshot()).toBe("out");
});

test("J30, J27: who logs in over the page of somebody else gets a page of their own", () => {
  const login = openBrowser().tab();
  expect(login.enter("proof", "ada")).toBe(true);
  login.refuse("proof");
  expect(login.enter("proof", "bob")).toBe(false);
  login.leave();
  expect(login.status.snapshot()).toBe("out");
  expect(login.enter("proof", "ada")).toBe(false);
});

test("J27: whose the page is has to be known to go on with it", () => {
  const { storage, tab } = openBrowser();
  storage.write("proof", "of before users were kept");
  const login = tab();
  login.status.set("in");
  login.refuse("of before users were kept");
  expect(login.enter("proof", "ada")).toBe(false);
});

test("J30: a login in one tab counts in another one", () => {
  const { tab } = openBrowser();
  const first = tab();
  first.enter("proof", "ada");
  const second = tab();
  second.status.set("in");
  second.refuse("proof");
  first.enter("newer", "ada");
  expect(second.adoptLogin()).toBe(true);
  expect([second.status.snapshot(), second.proof]).toEqual(["in", "newer"]);
  second.refuse("newer");
  first.enter("of somebody else", "bob");
  expect(second.adoptLogin()).toBe(false);
});
