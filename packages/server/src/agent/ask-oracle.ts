import type { AskOracleAction } from "@convoke/protocol";
import type { Model } from "../models/model.ts";
import { lastPart, questionOf, wordsOf } from "./side-question.ts";

/** The name of its tokens in the ledger, and of the model profile. */
export const oracleName = "oracle";

/** `isError`: there is no advice, and `text` says why. */
export type Advice = { readonly text: string; readonly isError: boolean };

/** Asks a stronger model one question. It sees nothing else of the conversation and has no tools; never rejects, null when aborted. */
export async function askOracle(
  { question, context }: Pick<AskOracleAction, "question" | "context">,
  model: Model,
  signal: AbortSignal,
): Promise<Advice | null> {
  const asked = context?.trim() ? `${question}\n\n<context>\n${context}\n</context>` : question;
  const last = await lastPart(model.stream(questionOf(instructions, asked, oracleName), signal));
  if (last.type === "aborted") return null;
  if (last.type === "failed")
    return { text: `The oracle could not be asked: ${last.error.detail}`, isError: true };
  const answer = wordsOf(last.response, "\n").trim();
  return answer === ""
    ? { text: "The oracle answered without a word.", isError: true }
    : { text: answer, isError: false };
}

const instructions = `You advise another agent that is in the middle of its work and asks you one question. You see only what it
sends, and can look at nothing else. Say what you would do and why, name what could go wrong, and say plainly where what you
were told is not enough to decide.`;
