import { readFile } from "node:fs/promises";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { answerSchemaFault } from "@convoke/protocol/validate";
import { describeUnreadable } from "../describe-unreadable.ts";
import { CommandError, exitCodes } from "../exit-codes.ts";
import { withoutFence } from "./without-fence.ts";

/** A check of answers against a schema of the user's own. */
export type AnswerSchema = {
  /** The schema, where the server can hold answers against it; null where the agent is told of it in words. */
  readonly forServer: Readonly<Record<string, unknown>> | null;
  /** What the agent is told about the form of its answer. */
  readonly instruction: string;
  /** What is wrong with an answer, a sentence each; none for a valid one. */
  readonly faultsOf: (answer: string) => readonly string[];
};

/** Reads a JSON schema. Rejects with {@link CommandError} for a file that is none. */
export async function readAnswerSchema(path: string): Promise<AnswerSchema> {
  const schema = await readJson(path);
  const ajv = new Ajv2020({ strict: false, allErrors: true, logger: false });
  formats.default(ajv);
  let validate: ReturnType<typeof ajv.compile>;
  try {
    validate = ajv.compile(schema);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CommandError(`${path} is no JSON schema: ${why}`, exitCodes.usage);
  }
  return {
    forServer: answerSchemaFault(schema) === null ? schema : null,
    instruction: `Give your last answer as one JSON value that is valid by this JSON schema, and nothing else, without a code fence:\n${JSON.stringify(schema)}`,
    faultsOf: (answer) => {
      const value = parseAnswer(answer);
      if (value === undefined) return ["The answer is not JSON."];
      if (validate(value)) return [];
      return (validate.errors ?? []).map(
        ({ instancePath, message = "is not valid" }) => `${instancePath || "The answer"} ${message}.`,
      );
    },
  };
}

function parseAnswer(answer: string): unknown {
  try {
    return JSON.parse(withoutFence(answer)) as unknown;
  } catch {
    return undefined;
  }
}

async function readJson(path: string): Promise<Record<string, unknown>> {
  try {
    return JSON.parse(await readFile(path, "utf8")) as Record<string, unknown>;
  } catch (error) {
    throw new CommandError(`--output-schema: ${describeUnreadable(path, error)}`, exitCodes.usage);
  }
}
