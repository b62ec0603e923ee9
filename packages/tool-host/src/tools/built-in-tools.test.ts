import { expect, test } from "vitest";
import { createValidator } from "@convoke/protocol/validate";
import { extensionToolSchemaByKind, ToolDefinition } from "@convoke/protocol";
import { defaultTools } from "../catalogue.ts";
import { facesOf } from "../tool.ts";
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
  const context = {
    sessionId: "s",
    workspaceDir: "/a",
    stateDir: "/b",
    environment: {},
    params: {},
    canSee: false,
  };
  const elsewhere = { ...context, sessionId: "t", workspaceDir: "/elsewhere", stateDir: "/there" };
  for (const face of defaultTools().flatMap(facesOf))
    expect({ ...face.define(elsewhere), meta: null }).toEqual({ ...face.define(context), meta: null });
});

test("tools 20.1.3: every tool's definition is valid and carries its annotations", async () => {
  const context = {
    sessionId: "s",
    workspaceDir: "/workspace",
    stateDir: "/state",
    environment: {},
    params: {},
    canSee: false,
  };
  const validator = createValidator();
  const hints = defaultTools()
    .flatMap(facesOf)
    .map((tool) => {
      const definition = tool.define(context);
      const schema = Object.hasOwn(extensionToolSchemaByKind, definition.kind)
        ? extensionToolSchemaByKind[definition.kind as keyof typeof extensionToolSchemaByKind]
        : ToolDefinition;
      expect(validator.check(schema, structuredClone(definition))).toMatchObject({ ok: true });
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
    ["ReadFileTool", "read_file", "read_file", "TFTF"],
    ["WriteFileTool", "write_file", "write_file", "FTFF"],
    ["EditTool", "edit", "edit", "FTFF"],
    ["ListDirectoryTool", "list_directory", "list_directory", "TFTF"],
    ["PlanningFileEditorTool", "planning_file_editor", "planning_file_editor", "FFFF"],
    ["ApplyPatchTool", "apply_patch", "apply_patch", "FTFF"],
    ["BrowserNavigateTool", "browser_navigate", "browser_navigate", "FFFT"],
    ["BrowserClickTool", "browser_click", "browser_click", "FFFT"],
    ["BrowserGetStateTool", "browser_get_state", "browser_get_state", "TFTT"],
    ["BrowserGetContentTool", "browser_get_content", "browser_get_content", "TFTT"],
    ["BrowserTypeTool", "browser_type", "browser_type", "FFFT"],
    ["BrowserScrollTool", "browser_scroll", "browser_scroll", "FFFT"],
    ["BrowserGoBackTool", "browser_go_back", "browser_go_back", "FFFT"],
    ["BrowserListTabsTool", "browser_list_tabs", "browser_list_tabs", "TFTF"],
    ["BrowserSwitchTabTool", "browser_switch_tab", "browser_switch_tab", "FFFF"],
    ["BrowserCloseTabTool", "browser_close_tab", "browser_close_tab", "FTFF"],
    ["BrowserGetStorageTool", "browser_get_storage", "browser_get_storage", "TFTF"],
    ["BrowserSetStorageTool", "browser_set_storage", "browser_set_storage", "FTFF"],
    ["BrowserStartRecordingTool", "browser_start_recording", "browser_start_recording", "FFFF"],
    ["BrowserStopRecordingTool", "browser_stop_recording", "browser_stop_recording", "FFFF"],
    ["MCPToolDefinition", "terminal_run", "terminal_run", "FTFT"],
    ["MCPToolDefinition", "terminal_list", "terminal_list", "TFTF"],
    ["MCPToolDefinition", "terminal_output", "terminal_output", "TFTF"],
    ["MCPToolDefinition", "terminal_stop", "terminal_stop", "FTTF"],
  ]);
});
