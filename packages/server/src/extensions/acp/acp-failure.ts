import { describeError } from "../../lib/describe-error.ts";
import { objectOr } from "../../lib/json-object.ts";

/** Codes of the errors that end a run of another agent, as newer servers of this wire have them. */
export type AcpFailureCode =
  | "ACPSpawnError"
  | "ACPInitError"
  | "ACPAuthRequired"
  | "ACPPromptError"
  | "ACPPromptTimeout"
  | "ACPPromptInterrupted"
  | "ACPModelError";

/** The other agent cannot go on. The message names the program and what to do, and has no secrets of ours. */
export class AcpFailure extends Error {
  override readonly name = "AcpFailure";
  readonly code: AcpFailureCode;

  constructor(code: AcpFailureCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** `what` is the rest of the sentence that begins with the agent, and may have more sentences. */
export function agentFailure(
  code: AcpFailureCode,
  command: string,
  what: string,
  cause?: unknown,
): AcpFailure {
  return new AcpFailure(code, `The agent "${command}" (acp_command) ${what}`, { cause });
}

/** JSON-RPC code of an agent that wants a login first. */
const authRequired = -32_000;

/** What an agent answered instead of a result. */
export function toAcpFailure(
  error: unknown,
  code: AcpFailureCode,
  { command, methods }: { readonly command: string; readonly methods: readonly string[] },
): AcpFailure {
  if (error instanceof AcpFailure) return error;
  const failed = agentFailure.bind(null, code, command);
  if (objectOr(error)["code"] !== authRequired)
    return failed(`answered with an error: ${describeReply(error)}. Send a message to try again.`, error);
  const ways = methods.length === 0 ? "" : ` It offers: ${methods.join(", ")}.`;
  const what =
    `asks for a login.${ways} Give its key as a secret of the conversation, under the ` +
    "name of the environment variable that it reads, or log in as the user that runs the tools; then send a message.";
  return agentFailure("ACPAuthRequired", command, what, error);
}

/** Agents put the reason into the data of an error. */
function describeReply(error: unknown): string {
  const { data } = objectOr(error);
  const { details, message } = objectOr(data);
  const reason = [details, message, data].find((text) => typeof text === "string" && text !== "");
  const text = describeError(error).replace(/\.$/, "");
  return (reason === undefined ? text : `${text} (${reason as string})`).slice(0, 2_000);
}
