import { writeFile } from "node:fs/promises";
import { exitCodes } from "../exit-codes.ts";
import { printable } from "../print/printable.ts";
import { newestEventId, watchRun, type WatchOptions } from "../watch-run.ts";
import { toText } from "./start-request.ts";
import type { AnswerSchema } from "./structured-answer.ts";
import { withoutFence } from "./without-fence.ts";

type AnswerOptions = WatchOptions & {
  readonly schema: AnswerSchema | null;
  /** Whether the server knows the schema: then an answer that it leaves out was asked for again already. */
  readonly isKnown: boolean;
  /** Where the answer is written as well. */
  readonly file: string | undefined;
};

/**
 * Prints and writes the last answer of a run that ended with `exitCode`, where that is wanted. One that is not valid by the schema is
 * asked for once more. Resolves with the exit code of the command.
 */
export async function giveAnswer(exitCode: number, options: AnswerOptions): Promise<number> {
  const { schema, file } = options;
  if (options.isQuiet !== true && file === undefined) return exitCode;
  let code = exitCode;
  let answer = await lastAnswer(options);
  if (schema !== null && code === exitCodes.ok && schema.faultsOf(answer.text).length > 0) {
    if (!options.isKnown || answer.isChecked) {
      code = await askAgain(schema, answer.text, options);
      answer = await lastAnswer(options);
    }
  }
  const faults = schema !== null && code === exitCodes.ok ? schema.faultsOf(answer.text) : [];
  const isValid = schema !== null && faults.length === 0 && code === exitCodes.ok;
  const given = isValid ? withoutFence(answer.text) : answer.text;
  if (file !== undefined) await writeFile(file, `${given}\n`);
  if (!options.isJson && options.isQuiet === true && given !== "")
    options.output.write(`${isValid ? given : printable(given)}\n`);
  for (const fault of faults) console.error(printable(fault));
  return faults.length > 0 ? exitCodes.invalidAnswer : code;
}

async function askAgain(schema: AnswerSchema, answer: string, options: AnswerOptions): Promise<number> {
  const { client, conversationId } = options;
  const afterEventId = await newestEventId(options);
  const faults = schema.faultsOf(answer).join("\n");
  const text = `Your last answer is not valid by the schema:\n${faults}\nGive it again, corrected. ${schema.instruction}`;
  await client.sendMessage(conversationId, { role: "user", content: [toText(text)], run: true });
  return await watchRun({ ...options, afterEventId });
}

type Answer = {
  readonly text: string;
  /** Whether the server found it valid, which it checks without patterns. */
  readonly isChecked: boolean;
};

/** The text where it is the answer itself, or else the structured answer beside it. */
async function lastAnswer({ client, conversationId, schema }: AnswerOptions): Promise<Answer> {
  const { response, structured_output: structured } = await client.call(
    "GET /api/conversations/{conversation_id}/agent_final_response",
    { params: { conversation_id: conversationId } },
  );
  const text = response.trim();
  const isChecked = structured !== undefined;
  const isText = !isChecked || schema === null || schema.faultsOf(text).length === 0;
  return { text: isText ? text : JSON.stringify(structured), isChecked };
}
