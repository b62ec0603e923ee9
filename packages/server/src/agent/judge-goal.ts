import { parseForeignJson } from "../lib/parse-foreign-json.ts";
import type { Model, ModelMessage } from "../models/model.ts";
import { lastPart, wordsOf } from "./side-question.ts";
import { text } from "./observation-content.ts";

/** What a judge says about the work: how far it is, from 0 to 1, and what is still missing. */
export type Verdict = { readonly score: number; readonly complete: boolean; readonly missing: string };

/** `verdict` is null when no model answered, `failure` when one did. */
export type Judged = { readonly verdict: Verdict | null; readonly failure: string | null };

/** Has a model judge, from what the agent's model reads, whether the objective is reached; never rejects, null when aborted. */
export async function judgeGoal(
  objective: string,
  history: readonly ModelMessage[],
  model: Model,
  signal: AbortSignal,
): Promise<Judged | null> {
  const question = `<objective>\n${objective}\n</objective>\n\n${instructions}`;
  const request = {
    messages: [
      { role: "system" as const, content: [text(role)] },
      ...history.filter((message) => message.role !== "system"),
      { role: "user" as const, content: [text(question)] },
    ],
    tools: [],
    cacheKey: "goal-judge",
  };
  const last = await lastPart(model.stream(request, signal));
  if (last.type === "aborted") return null;
  if (last.type === "failed") return { verdict: null, failure: last.error.detail };
  return { verdict: readVerdict(wordsOf(last.response, "\n")), failure: null };
}

/** An answer that is no verdict is one that misses everything: the loop is bounded all the same. */
export function readVerdict(answer: string): Verdict {
  try {
    const json = answer.slice(answer.indexOf("{"), answer.lastIndexOf("}") + 1);
    const { score, complete, missing } = parseForeignJson(json) as Record<string, unknown>;
    if (typeof complete === "boolean") {
      return {
        score: typeof score === "number" ? Math.min(1, Math.max(0, score)) : Number(complete),
        complete,
        missing: typeof missing === "string" ? missing.slice(0, 4_000) : "",
      };
    }
  } catch {
    // No JSON in it: told below.
  }
  return { score: 0, complete: false, missing: "The judge gave no verdict that can be read." };
}

const role =
  "You check the work of another agent. You see what it was asked, what it did and what its tools answered. Trust results, " +
  "not claims.";

const instructions =
  "Is this objective reached, as far as the results above show it? Answer with one JSON object and nothing else: " +
  '{"score": <0 to 1>, "complete": <true or false>, "missing": "<what is still to be done, empty when complete>"}.';
