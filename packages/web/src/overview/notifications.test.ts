import { expect, test } from "vitest";
import type { Approval } from "./approvals-store.ts";
import type { Summary } from "./summary.ts";
import { toNotificationBaseline, findNotifications } from "./notifications.ts";

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
  expect(findNotifications(null, before, waiting)).toEqual([]);
  expect(findNotifications(toNotificationBaseline([], []), before, waiting)).toEqual([]);
  const known = toNotificationBaseline(before, waiting);
  const after = [
    summary("a", "finished"),
    summary("b", "stuck"),
    summary("c", "waiting_for_confirmation"),
    summary("d", "error"),
  ];
  const asking = [...waiting, approval("2", "c", "remove it"), approval("3", "gone")];
  expect(findNotifications(known, after, asking)).toEqual([
    { kind: "asks", conversationId: "c", title: "c", what: "remove it" },
    { kind: "asks", conversationId: "gone", title: null, what: "terminal" },
    { kind: "done", conversationId: "a", title: "a", what: "" },
    { kind: "failed", conversationId: "b", title: "b", what: "" },
  ]);
  expect(findNotifications(toNotificationBaseline(after, asking), after, asking)).toEqual([]);
});

test("J26: the end of a sub-agent's task is nobody's news, its question is", () => {
  const known = toNotificationBaseline([summary("a", "running"), summary("t", "running", "a")], []);
  const after = [summary("a", "running"), summary("t", "finished", "a")];
  expect(findNotifications(known, after, [approval("1", "t")]).map(({ kind }) => kind)).toEqual(["asks"]);
});
