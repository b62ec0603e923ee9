import { ConvokeClient } from "@convoke/client";
import { foldRows } from "@convoke/client/view";
import { expect, test } from "vitest";
import { planText } from "./plan-text.ts";

const call = (id: string, action: object, observation: object = {}) => [
  { kind: "ActionEvent", id, tool_name: "any", tool_call_id: id, action },
  { kind: "ObservationEvent", id: `${id}-done`, action_id: id, tool_call_id: id, observation },
];
const client = new ConvokeClient({
  baseUrl: "http://localhost",
  fetch: async (request) =>
    new Response(`# Plan of ${new URL(new Request(request).url).searchParams.get("path")}`),
});

test("issue 26: the plan is what its file has now, else the task list, else nothing", async () => {
  const tasks = [
    { title: "Read", status: "done" },
    { title: "Mend", status: "in_progress" },
    { title: "Test", status: "todo" },
  ];
  const list = call("1", { kind: "TaskTrackerAction", command: "plan", task_list: tasks });
  const file = call(
    "2",
    { kind: "PlanningFileEditorAction", command: "create", path: "/w/PLAN.md" },
    { kind: "PlanningFileEditorObservation", command: "create" },
  );
  expect(await planText(client, "id", [])).toBeNull();
  expect(await planText(client, "id", foldRows(list))).toBe("[x] Read\n[~] Mend\n[ ] Test");
  expect(await planText(client, "id", foldRows([...list, ...file]))).toBe("# Plan of /w/PLAN.md");
});
