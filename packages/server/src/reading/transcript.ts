import type { Event } from "@convoke/protocol";
import { endedAcpCall } from "./acp-call.ts";
import { trimTrailing } from "../lib/trim-trailing.ts";
import { at, contentText, shortened, text, type Loose } from "./loose-event.ts";

/** An event as Markdown that ends with an empty line; empty for events without meaning to a person. */
export function toMarkdown(event: Event): string {
  const fields = event as Loose;
  // Kinds of this server too, which the union of the wire does not have.
  switch (event.kind as string) {
    case "MessageEvent": {
      const text = contentText(at(fields, "llm_message")?.["content"]);
      return section(event.source === "user" ? "User" : "Agent", event.timestamp, text);
    }
    case "ActionEvent":
      return actionText(fields, event.timestamp);
    case "ObservationEvent":
      return fenced(contentText(at(fields, "observation")?.["content"]));
    case "ACPToolCallEvent":
      return acpCallText(fields);
    case "UserRejectObservation":
      return quoted(`Rejected: ${text(fields, "rejection_reason")}`);
    case "AgentErrorEvent":
      return quoted(`Failed: ${text(fields, "error")}`);
    case "ConversationErrorEvent":
      return quoted(`The run failed (${text(fields, "code")}): ${text(fields, "detail")}`);
    case "PauseEvent":
      return quoted("Paused.");
    case "InterruptEvent":
      return quoted("Stopped.");
    case "Condensation":
      return text(fields, "summary") === ""
        ? ""
        : quoted(`Summary for the model: ${text(fields, "summary")}`);
    case "ConversationStateUpdateEvent":
      return fields["key"] === "settings_used" ? settingsText(at(fields, "value")) : "";
    default:
      return "";
  }
}

function acpCallText(fields: Loose): string {
  const call = endedAcpCall(fields);
  if (call === null) return "";
  return `### ${oneLine(call.title)}${call.isFailed ? " (failed)" : ""}\n\n${fenced(call.output)}`;
}

/** Which stored profiles the answers from here on are of. */
function settingsText(used: Loose | undefined): string {
  if (used === undefined) return "";
  const parts = [
    profileText("Agent profile", at(used, "agent_profile")),
    profileText("Model profile", at(used, "model_profile")),
  ].filter((part) => part !== "");
  return quoted(parts.length === 0 ? "A model of no profile." : `${parts.join(", ")}.`);
}

function profileText(what: string, profile: Loose | undefined): string {
  if (profile === undefined) return "";
  return `${what} ${text(profile, "name")}, revision ${String(profile["revision"])}`;
}

function actionText(fields: Loose, timestamp: string | undefined): string {
  const thought = contentText(fields["thought"]);
  const spoken = thought === "" ? "" : section("Agent", timestamp, thought);
  const action = at(fields, "action");
  const { kind, ...input } = action ?? {};
  if (kind === "FinishAction") return spoken + section("Agent", timestamp, text(action, "message"));
  const tool = text(fields, "tool_name");
  const summary = text(fields, "summary");
  const command = text(action, "command");
  const call = kind === "TerminalAction" ? `$ ${command}` : JSON.stringify(input, null, 2);
  return `${spoken}### ${oneLine(summary === "" ? tool : `${tool}: ${summary}`)}\n\n${fenced(call)}`;
}

function section(who: string, timestamp: string | undefined, body: string): string {
  if (body.trim() === "") return "";
  return `## ${who}${timestamp === undefined ? "" : ` · ${timestamp}`}\n\n${body.trim()}\n\n`;
}

/** A fence longer than any in the text, which then stays what it is. */
function fenced(body: string): string {
  if (body.trim() === "") return "";
  const shown = shortened(body);
  const longest = (shown.match(/`+/g) ?? []).reduce((max, { length }) => Math.max(max, length), 2);
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${trimTrailing(shown, "\n")}\n${fence}\n\n`;
}

function quoted(body: string): string {
  return `${body
    .trim()
    .split("\n")
    .map((line) => `> ${line}`)
    .join("\n")}\n\n`;
}

function oneLine(value: string): string {
  return value.replaceAll(/\s+/g, " ");
}
