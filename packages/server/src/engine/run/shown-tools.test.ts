import type { Agent } from "@convoke/protocol";
import type { ToolListing } from "@convoke/tool-host";
import { expect, test } from "vitest";
import { answerSchema, shownTools } from "./shown-tools.ts";

const schemaOf = (name: string) => ({ type: "object", properties: { [name]: { type: "string" } } });
const [ofMessage, ofConversation, ofFinish] = ["a", "b", "c"].map(schemaOf);
const agent = {
  kind: "Agent",
  llm: { model: "none" },
  tools: [{ name: "FinishTool", params: { response_schema: ofFinish } }],
} satisfies Agent;
const planning = { ...agent, system_prompt_filename: "system_prompt_planning.j2" };

test("the schema of a message counts before that of the conversation, and that before the one of finish", () => {
  const config = { agent, response_schema: ofConversation! };
  expect(answerSchema(config, { responseSchema: ofMessage! })).toBe(ofMessage);
  expect(answerSchema(config, { responseSchema: null })).toBe(ofConversation);
  expect(answerSchema({ agent }, { responseSchema: null })).toBe(ofFinish);
  expect(answerSchema({ agent: { ...agent, tools: [] } }, { responseSchema: null })).toBeNull();
});

test("while the agent plans, only the schema of a message counts", () => {
  const config = { agent: planning, response_schema: ofConversation! };
  expect(answerSchema(config, { responseSchema: null })).toBeNull();
  expect(answerSchema(config, { responseSchema: ofMessage! })).toBe(ofMessage);
});

test("the same tools and schema give the same list, and the tool that ends a run has the fields", () => {
  const finish = { name: "finish", traits: { endsTurn: true } } as ToolListing;
  const other = { name: "think" } as ToolListing;
  const listed = [finish, other];
  const first = shownTools(listed, ofMessage!, null);
  expect(first.tools).toEqual([{ ...finish, response: ofMessage }, other]);
  expect(shownTools(listed, ofMessage!, first)).toBe(first);
  expect(shownTools(listed, null, first).tools).toBe(listed);
});
