import { describeError } from "../describe-error.ts";
import { SupersededError, UnknownToolError } from "../host.ts";
import { isWorkspaceProblem, WorkspaceError } from "../workspace/workspace.ts";
import { FrameTooLargeError } from "./frames.ts";
import type { WireError } from "./messages.ts";

/** The host could not do what was asked; the message is the host's. */
class ToolHostError extends Error {
  override readonly name = "ToolHostError";
}

/** The host did what was asked, but its answer exceeds the maximum frame size. */
export class AnswerTooLargeError extends Error {
  override readonly name = "AnswerTooLargeError";
}

export function toWireError(error: unknown): WireError {
  const message = describeError(error);
  if (error instanceof UnknownToolError) {
    return { code: "unknown-tool", message, tool: error.tool, available: error.available };
  }
  if (error instanceof SupersededError) return { code: "superseded", message };
  if (error instanceof WorkspaceError) return { code: error.code, message };
  if (error instanceof FrameTooLargeError) return { code: "answer-too-large", message };
  return { code: "failed", message };
}

export function fromWireError(error: WireError): Error {
  if (error.code === "unknown-tool") return new UnknownToolError(error.tool ?? "", error.available ?? []);
  if (error.code === "superseded") return new SupersededError(error.message);
  if (error.code === "answer-too-large") return new AnswerTooLargeError(error.message);
  if (isWorkspaceProblem(error.code)) return new WorkspaceError(error.code, error.message);
  return new ToolHostError(error.message);
}
