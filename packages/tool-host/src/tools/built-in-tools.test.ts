import { expect, test } from "vitest";
import { createValidator } from "@convoke/protocol/validate";
import { ToolDefinition } from "@convoke/protocol";
import { defaultTools } from "../catalogue.ts";
import { openTool } from "../testing/open-tool.ts";
import { finishTool } from "./finish.ts";
import { thinkTool } from "./think.ts";

test("think has no effect but an acknowledgement", async () => {
  await using think = await openTool(thinkTool);
  expect(await think.execute({ kind: "ThinkAction", thought: "hm" })).toEqual({
    kind: "ThinkObservation",
    content: [{ cache_prompt: false, type: "text", text: expect.stringContaining("noted") }],
    is_error: false,
  });
});

test("finish repeats the message", async () => {
  await using finish = await openTool(finishTool);
  expect(await finish.execute({ kind: "FinishAction", message: "All done." })).toEqual({
    kind: "FinishObservation",
    content: [{ cache_prompt: false, type: "text", text: "All done." }],
    is_error: false,
  });
});

test("definitions are the same in every folder, so that caches of a prompt hold across conversations", () => {
  const context = { sessionId: "s", workspaceDir: "/a", stateDir: "/b", environment: {}, params: {} };
  const elsewhere = { ...context, sessionId: "t", workspaceDir: "/elsewhere", stateDir: "/there" };
  for (const tool of defaultTools()) expect(tool.define(elsewhere)).toEqual(tool.define(context));
});

test("tools 3.4, tools 20.1.3: every tool's definition is valid and carries its annotations", async () => {
  const context = {
    sessionId: "s",
    workspaceDir: "/workspace",
    stateDir: "/state",
    environment: {},
    params: {},
  };
  const validator = createValidator();
  const hints = defaultTools().map((tool) => {
    const definition = tool.define(context);
    expect(validator.check(ToolDefinition, structuredClone(definition))).toMatchObject({ ok: true });
    expect(definition).not.toHaveProperty("name");
    const { annotations } = definition;
    const flags = [
      annotations?.readOnlyHint,
      annotations?.destructiveHint,
      annotations?.idempotentHint,
      annotations?.openWorldHint,
    ];
    return [
      definition.kind,
      definition.title,
      annotations?.title,
      flags.map((flag) => (flag ? "T" : "F")).join(""),
    ];
  });
  expect(hints.filter(([kind]) => kind !== "TerminalTool")).toEqual([
    ["FileEditorTool", "file_editor", "file_editor", "FTFF"],
    ["TaskTrackerTool", "task_tracker", null, "FFTF"],
    ["GlobTool", "glob", "glob", "TFTF"],
    ["GrepTool", "grep", "grep", "TFTF"],
    ["ThinkTool", "think", null, "TFTF"],
    ["FinishTool", "finish", "finish", "TFTF"],
  ]);
});
