import { expect, test } from "vitest";
import { besideIn, conversationIn, idOf, roomIn, toBeside, withBeside } from "./beside.ts";

test("what stands beside a conversation is in the address, with what is asked of it", () => {
  const address = withBeside("/c/a?panel=files", ["b?panel=changes", "c"]);
  expect(address).toBe("/c/a?panel=files&beside=b%3Fpanel%3Dchanges&beside=c");
  const beside = besideIn(address.slice(address.indexOf("?")), "a");
  expect(beside).toEqual(["b?panel=changes", "c"]);
  expect(beside.map(idOf)).toEqual(["b", "c"]);
  expect(withBeside(address, [])).toBe("/c/a?panel=files");
  expect(withBeside("/c/a?beside=b", [])).toBe("/c/a");
});

test("a conversation that has its place does not stand beside itself or twice", () => {
  const search = "panel=files&beside=a&beside=b%3Fpanel%3Dfiles&beside=b&beside=a%3Fat%3D";
  expect(besideIn(search, "a")).toEqual(["b?panel=files"]);
  expect(besideIn("beside=a", "a")).toEqual([]);
  expect(toBeside({ path: "/c/a", search: "beside=a", width: 1_440 }, "new")).toBe("/c/a?beside=new");
});

test("a conversation is opened beside another one: in free room, else in the place of the last", () => {
  const at = (path: string, search: string, width = 1_440) => toBeside({ path, search, width }, "new");
  expect(at("/inbox", "")).toBe("/c/new");
  expect(at("/c/a", "")).toBe("/c/a?beside=new");
  expect(at("/c/a", "panel=files&path=x%2F")).toBe("/c/a?panel=files&path=x%2F&beside=new");
  expect(at("/c/a", "beside=b")).toBe("/c/a?beside=new");
  expect(at("/c/a", "beside=b", 2_000)).toBe("/c/a?beside=b&beside=new");
  expect(at("/c/a", "beside=b&beside=c", 2_000)).toBe("/c/a?beside=b&beside=new");
  expect(at("/c/a", "beside=new")).toBe("/c/a?beside=new");
  expect(at("/c/new", "beside=b")).toBe("/c/new?beside=b");
  expect(at("/c/a", "", 1_100)).toBe("/c/new");
});

test("below 1,101 pixels there is room for one", () => {
  expect([390, 1_100, 1_101, 1_799, 1_800].map(roomIn)).toEqual([1, 1, 2, 2, 3]);
});

test("a path names a conversation, also below a prefix", () => {
  expect(["/c/a", "/agents/c/a?x=1", "/settings/look", "/"].map(conversationIn)).toEqual([
    "a",
    "a",
    null,
    null,
  ]);
});
