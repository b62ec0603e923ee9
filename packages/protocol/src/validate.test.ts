import { expect, test } from "vitest";
import {
  Event,
  Action,
  StartConversationRequest,
  Message,
  SetConfirmationPolicyRequest,
  toParameters,
} from "./index.ts";
import { createValidator } from "./validate.ts";
const v = createValidator();
test("x", () => {
  console.log(
    JSON.stringify(
      v.check(Event, {
        kind: "ActionEvent",
        thought: [],
        tool_name: "terminal",
        tool_call_id: "1",
        tool_call: { id: "1", name: "terminal", arguments: "{}", origin: "completion" },
        llm_response_id: "r",
        action: { kind: "TaskTrackerAction", task_list: [{ title: "x" }] },
      }),
    ),
  );
  console.log(JSON.stringify(v.check(Event, { kind: "Foo" }, ["body"])));
  console.log(JSON.stringify(v.check(Event, {}, ["body"])));
  console.log(JSON.stringify(v.check(Action, { kind: "TerminalAction", timeout: "x", extra: 1 }, ["body"])));
  console.log(
    JSON.stringify(
      v.check(
        Message,
        {
          role: "user",
          content: [
            { image_urls: [] },
            { text: "a" },
            { type: "image", image_urls: ["x"] },
            { type: "x" },
            { type: "text" },
            {},
          ],
          tool_calls: [{}],
          thinking_blocks: [{ data: "x" }],
        },
        ["body"],
      ),
    ),
  );
  const t = performance.now();
  console.log(
    JSON.stringify(
      v.check(
        StartConversationRequest,
        {
          agent: {
            llm: { model: "x", reasoning_effort: "x" },
            condenser: { kind: "PipelineCondenser", condensers: [{ kind: "NoOpCondenser" }, { kind: "X" }] },
          },
          workspace: {},
          secrets: { a: { kind: "StaticSecret" } },
          conversation_id: "x",
        },
        ["body"],
      ),
      null,
      1,
    ),
  );
  console.log(performance.now() - t);
  console.log(
    JSON.stringify(
      v.check(
        StartConversationRequest,
        {
          agent: {
            llm: { model: "x" },
            agent_context: {},
            condenser: { kind: "PipelineCondenser", condensers: [{ kind: "NoOpCondenser" }] },
          },
          workspace: { working_dir: "x" },
          secrets: { a: { kind: "StaticSecret" } },
        },
        ["body"],
      ),
      null,
      1,
    ),
  );
  console.log(JSON.stringify(v.check(SetConfirmationPolicyRequest, { policy: {} }, ["body"])));
  console.log(JSON.stringify(toParameters("TaskTrackerAction"), null, 1));
});
