import type { Event } from "@convoke/protocol";
import { hostsText } from "./hosts-text.ts";
import type { Paint } from "./paint.ts";
import { printable } from "./printable.ts";

const usualLines = 12;
const linesOfMessages = 40;

/**
 * Writes an account of a conversation that a person can read while it happens; one call per event. Longer texts lose their middle; `limit`
 * replaces how many lines are shown.
 */
export function describeEvent(event: Event, paint: Paint, limit?: number): string[] {
  const maxLines = limit ?? usualLines;
  const maxWords = limit ?? linesOfMessages;
  switch (event.kind) {
    case "MessageEvent": {
      const text = textOf(event.llm_message.content ?? []);
      if (text === "") return [];
      const who =
        event.source === "user"
          ? paint.bold("you")
          : paint.green(event.source === "agent" ? "agent" : "note");
      return block(`${who}  `, text, maxWords);
    }
    case "ActionEvent": {
      const thought = textOf(event.thought);
      const risk = event.security_risk === "HIGH" ? paint.red("  high risk") : "";
      return [
        ...(thought === "" ? [] : block(`${paint.green("agent")}  `, thought, maxWords)),
        ...block(
          `${paint.cyan(`  > ${printable(event.tool_name)}`)}  `,
          `${callText(event)}${risk}`,
          maxLines,
        ),
      ];
    }
    case "ObservationEvent": {
      const { observation } = event;
      if (observation.kind === "FinishObservation") return [];
      const isFailure =
        observation.is_error === true ||
        (observation.kind === "TerminalObservation" && (observation.exit_code ?? 0) !== 0);
      const text = textOf(observation.content ?? []);
      const state = observation.kind === "TerminalObservation" ? exitText(observation) : "";
      return block(
        "    ",
        `${text}${text !== "" && state !== "" ? "\n" : ""}${state}` || "(no output)",
        maxLines,
      ).map((line) => (isFailure ? paint.red(line) : paint.dim(line)));
    }
    case "AgentErrorEvent":
      return block("    ", event.error, maxLines).map(paint.red);
    case "UserRejectObservation":
      return [paint.yellow(`    rejected: ${printable(event.rejection_reason ?? "")}`)];
    case "ConversationErrorEvent":
      return block(paint.red(`error ${printable(event.code)}  `), event.detail, maxLines);
    case "ConversationStateUpdateEvent": {
      if (event.key === "approvals") return reviewLines(event.value, paint, maxLines);
      const { detail } = (event.value ?? {}) as { detail?: unknown };
      if (typeof detail !== "string") return [];
      if (event.key === "warning") return block(paint.yellow("warning  "), detail, maxLines);
      return event.key === "model_retry" ? block(paint.yellow("waiting  "), detail, maxLines) : [];
    }
    case "PauseEvent":
      return [paint.yellow("paused")];
    case "Condensation":
      return [paint.dim("(older steps were condensed for the model)")];
    default:
      // Newer kinds come too: an interrupt is worth a line, the rest is not.
      return (event.kind as string) === "InterruptEvent" ? [paint.yellow("interrupted")] : [];
  }
}

/** What a reviewer decided; the answers of people were given at a prompt or on a page. */
function reviewLines(value: unknown, paint: Paint, maxLines: number): string[] {
  const { by, answers } = (value ?? {}) as { by?: unknown; answers?: unknown };
  if (by !== "reviewer" || !Array.isArray(answers)) return [];
  return (answers as readonly { accept?: unknown; reason?: unknown }[]).flatMap(({ accept, reason }) => {
    const what = accept === true ? "allowed by the reviewer" : "left to you by the reviewer";
    return block(paint.dim(`    ${what}: `), String(reason), maxLines);
  });
}

type ActionEvent = Extract<Event, { kind: "ActionEvent" }>;

function callText(event: ActionEvent): string {
  const { action } = event;
  switch (action?.kind) {
    case "TerminalAction":
      return action.command === "" ? "(wait for output)" : action.command;
    case "FileEditorAction":
      return `${action.command} ${action.path}`;
    case "FinishAction":
      return action.message;
    case "ThinkAction":
      return action.thought;
    case "GlobAction":
    case "GrepAction":
      return `${action.pattern}${action.path ? ` in ${action.path}` : ""}`;
    default:
      return hostsText(action) ?? event.summary ?? event.tool_call.arguments;
  }
}

function exitText({
  exit_code: exitCode,
  timeout,
}: {
  exit_code?: number | null;
  timeout?: boolean;
}): string {
  if (timeout === true) return "[still running]";
  return exitCode === null || exitCode === undefined ? "" : `[exit ${exitCode}]`;
}

function textOf(content: readonly object[]): string {
  return content
    .flatMap((part) => ("text" in part ? [String(part.text)] : ["(image)"]))
    .join("")
    .trimEnd();
}

/** Indents the lines behind the first one and leaves out the middle of long text. */
function block(prefix: string, text: string, limit: number): string[] {
  const lines = printable(text).split("\n");
  const half = Math.floor(limit / 2);
  const shown =
    lines.length <= limit + 1
      ? lines
      : [...lines.slice(0, half), `... ${lines.length - 2 * half} more lines ...`, ...lines.slice(-half)];
  const indent = " ".repeat(4);
  return shown.map((line, index) => (index === 0 ? `${prefix}${line}` : `${indent}${line}`));
}
