import { expect, test } from "vitest";
import type { Approval } from "./approvals-store.ts";
import type { Summary } from "./summary.ts";
import { knownOf, newsOf } from "./news.ts";

const summary = (id: string, status: string, parentId: string | null = null): Summary =>
  ({ id, title: id, status, parentId }) as Summary;
const approval = (actionId: string, conversationId: string, summary = ""): Approval =>
  ({ actionId, conversationId, tool: "terminal", summary }) as Approval;

test("J26: what was so when the page opened is no news; what asks and what ends is, once", () => {
  const before = [
    summary("a", "running"),
    summary("b", "running"),
    summary("c", "running"),
    summary("d", "error"),
  ];
  const waiting = [approval("1", "d")];
  expect(newsOf(null, before, waiting)).toEqual([]);
  expect(newsOf(knownOf([], []), before, waiting)).toEqual([]);
  const known = knownOf(before, waiting);
  const after = [
    summary("a", "finished"),
    summary("b", "stuck"),
    summary("c", "waiting_for_confirmation"),
    summary("d", "error"),
  ];
  const asking = [...waiting, approval("2", "c", "remove it"), approval("3", "gone")];
  expect(newsOf(known, after, asking)).toEqual([
    { kind: "asks", conversationId: "c", title: "c", what: "remove it" },
    { kind: "asks", conversationId: "gone", title: null, what: "terminal" },
    { kind: "done", conversationId: "a", title: "a", what: "" },
    { kind: "failed", conversationId: "b", title: "b", what: "" },
  ]);
  expect(newsOf(knownOf(after, asking), after, asking)).toEqual([]);
});

test("J26: the end of a sub-agent's task is nobody's news, its question is", () => {
  const known = knownOf([summary("a", "running"), summary("t", "running", "a")], []);
  const after = [summary("a", "running"), summary("t", "finished", "a")];
  expect(newsOf(known, after, [approval("1", "t")]).map(({ kind }) => kind)).toEqual(["asks"]);
});
