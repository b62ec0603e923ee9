import type { ImageContent, Observation, TextContent } from "@convoke/protocol";
import { clipText, shortNotice, textLimits } from "@convoke/tool-host";
import { plainText } from "./plain-text.ts";

const errorHeader = "The tool reported an error:\n";

/** What the model reads of a tool's result. Never empty: every provider needs something to answer a call with. */
export function observationContent(observation: Observation): (TextContent | ImageContent)[] {
  const parts = partsOf(observation);
  const shown = observation.is_error === true ? [text(errorHeader), ...parts] : [...parts];
  return shown.length === 0 ? [text("(no output)")] : shown.map(plain).map(limit);
}

function partsOf(observation: Observation): readonly (TextContent | ImageContent)[] {
  if (observation.kind === "TerminalObservation") return terminalContent(observation);
  const content = observation.content ?? [];
  const picture = observation.kind === "BrowserObservation" ? observation.screenshot_data : null;
  return typeof picture === "string" && picture !== "" ? [...content, screenshot(picture)] : content;
}

/** Bare base64 as a picture; what it begins with tells its form. */
function screenshot(data: string): ImageContent {
  const [, type] = pictureTypes.find(([start]) => data.startsWith(start)) ?? ["", "png"];
  return { type: "image", image_urls: [`data:image/${type};base64,${data}`], cache_prompt: false };
}

const pictureTypes = [
  ["/9j/", "jpeg"],
  ["R0lGODlh", "gif"],
  ["UklGR", "webp"],
] as const;

export function text(content: string): TextContent {
  return { type: "text", text: content, cache_prompt: false };
}

type TerminalObservation = Extract<Observation, { kind: "TerminalObservation" }>;

function terminalContent(observation: TerminalObservation): (TextContent | ImageContent)[] {
  const { metadata } = observation;
  const output = (observation.content ?? []).map((part) => ("text" in part ? part.text : "")).join("");
  const lines = [`${metadata?.prefix ?? ""}${output}${metadata?.suffix ?? ""}`];
  if (metadata?.working_dir) lines.push(`[Working directory: ${metadata.working_dir}]`);
  if (metadata?.py_interpreter_path) lines.push(`[Python: ${metadata.py_interpreter_path}]`);
  const exitCode = metadata?.exit_code ?? -1;
  if (exitCode !== -1) lines.push(`[Exit code: ${exitCode}]`);
  return [text(lines.join("\n"))];
}

/** A part whose text has nothing in it that only terminals understand. */
export function plain<Part extends TextContent | ImageContent>(part: Part): Part {
  if (!("text" in part)) return part;
  const words = plainText(part.text);
  return words === part.text ? part : { ...part, text: words };
}

function limit(part: TextContent | ImageContent): TextContent | ImageContent {
  return "text" in part && part.text.length > textLimits.toolMessage
    ? { ...part, text: clipText(part.text, textLimits.toolMessage, shortNotice) }
    : part;
}
