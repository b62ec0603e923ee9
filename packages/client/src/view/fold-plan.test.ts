import { expect, test } from "vitest";
import { SampleLog } from "../testing/sample-log.ts";
import { foldPlan } from "./fold-plan.ts";
import { foldRows } from "./row-fold.ts";

const kind = "PlanningFileEditorAction";
const path = "/w/.agents_tmp/PLAN.md";

test("F26: the plan is what was written last; looking at it and failing change nothing", () => {
  const log = new SampleLog();
  const act = (command: string, more: object): string => {
    const id = log.action("planning_file_editor", { kind, command, path });
    return log.result(id, { kind: "PlanningFileEditorObservation", command, content: [], ...more });
  };
  act("view", {});
  expect(foldPlan(foldRows(log.events))).toBeNull();
  const written = act("create", {});
  act("str_replace", { is_error: true });
  act("view", {});
  expect(foldPlan(foldRows(log.events))).toEqual({ path, version: written });
});
