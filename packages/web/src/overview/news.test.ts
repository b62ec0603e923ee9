import { expect, test } from "vitest";
import type { Approval } from "./approvals-store.ts";
import type { Glance } from "./glance.ts";
import { knownOf, newsOf } from "./news.ts";

const glance = (id: string, status: string, parentId: string | null = null): Glance =>
  ({ id, title: id, status, parentId }) as Glance;
const approval = (actionId: string, conversationId: string, summary = ""): Approval =>
  ({ actionId, conversationId, tool: "terminal", summary }) as Approval;

test("J26: what was so when the page opened is no news; what asks and what ends is, once", () => {
  const before = [
    glance("a", "running"),
    glance("b", "running"),
    glance("c", "running"),
    glance("d", "error"),
  ];
  const waiting = [approval("1", "d")];
  expect(newsOf(null, before, waiting)).toEqual([]);
  expect(newsOf(knownOf([], []), before, waiting)).toEqual([]);
  const known = knownOf(before, waiting);
  const after = [
    glance("a", "finished"),
    glance("b", "stuck"),
    glance("c", "waiting_for_confirmation"),
    glance("d", "error"),
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
  const known = knownOf([glance("a", "running"), glance("t", "running", "a")], []);
  const after = [glance("a", "running"), glance("t", "finished", "a")];
  expect(newsOf(known, after, [approval("1", "t")]).map(({ kind }) => kind)).toEqual(["asks"]);
});
