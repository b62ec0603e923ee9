import { expect, test } from "vitest";
import { ConvokeClient } from "../convoke-client.ts";
import { changedFiles, digestOf, filesOf } from "./changed-files.ts";

const edit = (path: string, before: string, after: string) => ({
  path,
  isNew: before === "",
  isDeleted: false,
  before,
  after,
});
const never = new AbortController().signal;

test("J16: edits that follow on each other are one change; what something else did in between is not in it", async () => {
  const files = filesOf(
    [
      edit("/w/b.txt", "", "1"),
      edit("/w/a.txt", "x", "y"),
      edit("/w/b.txt", "1", "2"),
      edit("/w/b.txt", "by a command", "3"),
      { path: "/w/b.txt", isNew: false, isDeleted: true, patch: "@@" },
    ],
    "/w",
  );
  expect(files.map(({ path, status }) => [path, status])).toEqual([
    ["a.txt", "UPDATED"],
    ["b.txt", "DELETED"],
  ]);
  expect(await files[1]!.read(never)).toEqual([
    { before: "", after: "2" },
    { before: "by a command", after: "3" },
    { patch: "@@" },
  ]);
});

test("J16: the edits of a turn end with the turn", async () => {
  const requested: string[] = [];
  const result = (id: string, path: string) => ({
    kind: "ObservationEvent",
    id,
    observation: {
      kind: "FileEditorObservation",
      command: "create",
      path,
      prev_exist: false,
      new_content: id,
    },
  });
  const client = new ConvokeClient({
    baseUrl: "http://server",
    fetch: async (url) => {
      requested.push(url as string);
      const items = [
        result("2", "/w/in.txt"),
        { kind: "TrimmedEvent", id: "3", size: 9, cut: [], event: result("3", "/w/large.txt") },
        result("5", "/w/later.txt"),
      ];
      return Response.json({ items, next_page_id: "6" });
    },
  });
  const place = { client, conversationId: "c", folder: "/w" };
  const files = await changedFiles(place, { type: "turn", firstId: "1", lastId: "4" }, never);
  expect(files.map(({ path, status }) => [path, status])).toEqual([
    ["in.txt", "ADDED"],
    ["large.txt", "ADDED"],
  ]);
  expect(requested).toHaveLength(1);
  expect(requested[0]).toContain("page_id=1");
});

test("a digest tells changes apart", () => {
  expect(digestOf([{ before: "a", after: "b" }])).not.toBe(digestOf([{ before: "a", after: "c" }]));
});
