import { assert as assertProperty, nat, property, uint8Array } from "fast-check";
import { expect, test } from "vitest";
import type { Outcome } from "./host.ts";
import { maskOutcome } from "./mask-outcome.ts";

const text = (value: string) => ({ cache_prompt: false, type: "text", text: value }) as const;
const secrets = [
  { name: "A", value: "view" },
  { name: "B", value: "s3cr3t/token+value" },
];

test("P13: every text of an observation is masked, whatever field holds it", () => {
  const outcome: Outcome = {
    type: "observation",
    observation: {
      kind: "FileEditorObservation",
      content: [text("key=s3cr3t/token+value"), text("czNjcjN0L3Rva2VuK3ZhbHVl")],
      is_error: false,
      command: "view",
      path: "/w/s3cr3t/token+value",
      prev_exist: true,
      old_content: "a view of s3cr3t/token+value",
      new_content: null,
    },
  };
  expect(maskOutcome(outcome, secrets)).toEqual({
    type: "observation",
    observation: {
      kind: "FileEditorObservation",
      content: [text("key=<secret-hidden>"), text("<secret-hidden>")],
      is_error: false,
      command: "view",
      path: "/w/<secret-hidden>",
      prev_exist: true,
      old_content: "a <secret-hidden> of <secret-hidden>",
      new_content: null,
    },
  });
});

test("P13: the command of a terminal observation is a text", () => {
  const outcome: Outcome = {
    type: "observation",
    observation: { kind: "TerminalObservation", content: [], command: "echo s3cr3t/token+value" },
  };
  expect(JSON.stringify(maskOutcome(outcome, secrets))).toContain("echo <secret-hidden>");
});

test("P56: binary fields keep every byte, with short secrets too", () => {
  assertProperty(
    property(uint8Array({ minLength: 8 }), nat(6), (bytes, offset) => {
      const data = Buffer.from(bytes).toString("base64");
      const hostile = [{ name: "X", value: data.slice(offset, offset + 5) }];
      const url = `data:image/png;base64,${data}`;
      const outcome: Outcome = {
        type: "observation",
        observation: {
          kind: "BrowserObservation",
          content: [{ cache_prompt: false, type: "image", image_urls: [url] }],
          is_error: false,
          screenshot_data: data,
          full_output_save_dir: null,
        },
      };
      expect(maskOutcome(outcome, hostile)).toEqual(outcome);
    }),
    { numRuns: 200 },
  );
});

test("P13, S05: a name of the wire below its place is a tool's own", () => {
  const outcome: Outcome = {
    type: "observation",
    observation: {
      kind: "MCPToolObservation",
      content: [text("x")],
      tool_name: "t",
      details: { type: "s3cr3t/token+value", kind: "s3cr3t/token+value", status: ["s3cr3t/token+value"] },
    } as never,
  };
  expect(JSON.stringify(maskOutcome(outcome, secrets))).not.toContain("s3cr3t");
});

test("P56: the path of the workspace is no secret", () => {
  const outcome: Outcome = { type: "error", text: "no file in /srv/project-77; project-77" };
  const project = [{ name: "P", value: "project-77" }];
  expect(maskOutcome(outcome, project, ["/srv/project-77"])).toEqual({
    type: "error",
    text: "no file in /srv/project-77; <secret-hidden>",
  });
});
