import { buildHistory } from "../../agent/history.ts";
import type { ViewEvent } from "../../agent/history-view.ts";
import { toModelTool } from "../../agent/tool-schema.ts";
import { Fault } from "../../lib/fault.ts";
import type { Model, ModelRequest } from "../../models/model.ts";
import { readsPrediction } from "../../security/analyzers/analyzer.ts";
import type { SharedParts } from "../shared-parts.ts";
import type { ToolBelt } from "../tool-belt.ts";
import { text } from "../../agent/observation-content.ts";
import { lastPart, wordsOf } from "../../agent/side-question.ts";

type AskDeps = {
  readonly session: Pick<ToolBelt, "tools">;
  /** Built like the agent's own requests, so that both share a prefix in the provider's cache. */
  readonly asksForRisk: boolean;
  readonly view: readonly ViewEvent[];
  readonly model: Model;
  readonly cacheKey: string;
};

/** The text of the answer, masked like everything that leaves the server. */
export async function askBeside(
  { configuration, id, log, models, queue }: SharedParts,
  session: Pick<ToolBelt, "tools">,
  question: string,
  signal: AbortSignal,
): Promise<string> {
  const view = await queue.post(async () => [...(await log.view())]);
  const asksForRisk = readsPrediction(configuration.config.security_analyzer);
  const model = models.openHelper("ask-agent-llm");
  const answer = await askAgent({ session, asksForRisk, view, model, cacheKey: id }, question, signal);
  return JSON.parse(log.mask(JSON.stringify(answer))) as string;
}

/**
 * A side question: the model gets the agent's context, with placeholders for calls without a result (L23.26), and
 * answers in text. Nothing of it enters the log. Throws `model_failed` or `question_aborted`.
 */
async function askAgent(
  { session, asksForRisk, view, model, cacheKey }: AskDeps,
  question: string,
  signal: AbortSignal,
): Promise<string> {
  const history = buildHistory(view);
  const asked = { role: "user" as const, content: [text(`${preface}\n\n${question}`)] };
  const tools = session.tools.map((tool) => toModelTool(tool, asksForRisk));
  const request: ModelRequest = { messages: [...history, asked], tools, cacheKey };
  const first = await answerOf(model, request, signal);
  if (first !== "") return first;
  // A tool call is no answer; without tools the model can only write text.
  const second = await answerOf(model, { ...request, tools: [] }, signal);
  if (second !== "") return second;
  throw new Fault(
    "not-now",
    "model_failed",
    "The model gave no answer in words. Ask once more, in other words.",
  );
}

async function answerOf(model: Model, request: ModelRequest, signal: AbortSignal): Promise<string> {
  const last = await lastPart(model.stream(request, signal));
  if (last.type === "done") return wordsOf(last.response).trim();
  if (last.type === "failed") throw new Fault("not-now", "model_failed", last.error.detail);
  throw new Fault("not-now", "question_aborted", "The question was given up before the model had answered.");
}

const preface =
  "A question beside the task: answer it in a few plain sentences from what you know of this conversation. Call no tool, " +
  "and go on with nothing; the task continues after this as if it had not been asked.";
