import { diffOf } from "@convoke/client/diff-lines";
import { editsOf, rowOfAcpCall, type Edit } from "@convoke/client/view";
import type { Event } from "@convoke/protocol";
import { endedAcpCall } from "../acp-call.ts";
import { escapeHtml } from "./escape-html.ts";
import { markdownHtml } from "./markdown-html.ts";
import { at, contentText, partsOf, shortened, text, type Loose } from "../loose-event.ts";

/** Longer texts are not read as Markdown, which would hold up everything else on the server. */
const maxMarkdown = 50_000;
/** Longer differences are folded away. */
const maxOpenLines = 60;
const picture = /^data:image\/(?:png|jpeg|gif|webp);base64,[a-z0-9+/=]+$/iu;

/** An event as a section of the page; empty for events without meaning to a person. */
export function eventHtml(event: Event): string {
  const fields = event as Loose;
  // Kinds of this server too, which the union of the wire does not have.
  switch (event.kind as string) {
    case "MessageEvent": {
      const body = contentHtml(at(fields, "llm_message")?.["content"]);
      return event.source === "user" ? section("User", event, body, "user") : section("Agent", event, body);
    }
    case "ActionEvent":
      return actionHtml(fields, event);
    case "ObservationEvent":
      return outcomeHtml(fields, event);
    case "ACPToolCallEvent":
      return acpCallHtml(fields);
    case "UserRejectObservation":
      return note(`Rejected: ${text(fields, "rejection_reason")}`);
    case "AgentErrorEvent":
      return note(`Failed: ${text(fields, "error")}`, true);
    case "ConversationErrorEvent":
      return note(`The run failed (${text(fields, "code")}): ${text(fields, "detail")}`, true);
    case "PauseEvent":
      return note("Paused.");
    case "InterruptEvent":
      return note("Stopped.");
    case "Condensation":
      return text(fields, "summary") === "" ? "" : note(`Summary for the model: ${text(fields, "summary")}`);
    default:
      return "";
  }
}

function actionHtml(fields: Loose, event: Event): string {
  const spoken = section("Agent", event, contentHtml(fields["thought"]));
  const action = at(fields, "action") ?? null;
  const { kind, ...input } = action ?? {};
  if (kind === "FinishAction") return spoken + section("Agent", event, proseHtml(text(action, "message")));
  const summary = text(fields, "summary");
  const tool = text(fields, "tool_name");
  const name = `<strong>${escapeHtml(tool)}</strong>${summary === "" ? "" : `: ${escapeHtml(summary)}`}`;
  const edits = editsOf({ action, outcome: null });
  const call =
    kind === "TerminalAction"
      ? `<pre>$ ${escapeHtml(shortened(text(action, "command")))}</pre>`
      : edits.length > 0
        ? `<p><code>${edits.map(({ path }) => escapeHtml(path)).join(", ")}</code></p>`
        : `<pre>${escapeHtml(shortened(JSON.stringify(input, null, 2)))}</pre>`;
  return `${spoken}<section class="call"><p>${name}</p>${call}</section>\n`;
}

function outcomeHtml(fields: Loose, event: Event): string {
  const observation = at(fields, "observation") ?? {};
  const isError = observation["is_error"] === true;
  const outcome = { type: "result", id: event.id ?? "", at: "", observation, isError, isCut: false } as const;
  const edits = editsOf({ action: {}, outcome });
  if (edits.length > 0) return `<section class="call">${edits.map(editHtml).join("")}</section>\n`;
  const shown = contentText(observation["content"]).trimEnd();
  const exitCode = observation["exit_code"];
  const isFailed = isError || (typeof exitCode === "number" && exitCode !== 0);
  if (shown.trim() === "" && !isFailed) return "";
  const code = typeof exitCode === "number" && exitCode !== 0 ? `, exit ${exitCode}` : "";
  return `<section class="call">${outputHtml(shown, isFailed, code)}</section>\n`;
}

/** A tool call of another agent, when it has ended. */
function acpCallHtml(fields: Loose): string {
  const call = endedAcpCall(fields);
  if (call === null) return "";
  const output = call.output.trimEnd();
  const shown = output === "" && !call.isFailed ? "" : outputHtml(output, call.isFailed, "");
  const edits = editsOf(rowOfAcpCall([fields]))
    .map(editHtml)
    .join("");
  return `<section class="call"><p><strong>${escapeHtml(call.title)}</strong></p>${edits}${shown}</section>\n`;
}

function outputHtml(shown: string, isFailed: boolean, code: string): string {
  const lines = shown === "" ? 0 : shown.split("\n").length;
  const size = lines === 1 ? "1 line" : `${lines} lines`;
  const word = isFailed ? `<span class="bad">Failed</span>` : "Output";
  const open = isFailed ? " open" : "";
  return `<details${open}><summary>${word}: ${size}${code}</summary><pre>${escapeHtml(shortened(shown))}</pre></details>`;
}

function editHtml(edit: Edit): string {
  const { hunks, added, removed } = diffOf(edit);
  const lines = hunks.flatMap((hunk, index) => [
    ...(index === 0 ? [] : ["<span>⋮</span>"]),
    ...hunk.lines.map(({ type, text: line }) => {
      const sign = { same: " ", added: "+", removed: "-" }[type];
      return `<span class="${type}">${sign} ${escapeHtml(line)}</span>`;
    }),
  ]);
  const isOpen = lines.length > 0 && lines.length <= maxOpenLines;
  const head = `<summary><code>${escapeHtml(edit.path)}</code> +${added} -${removed}</summary>`;
  const body = lines.length === 0 ? "" : `<pre class="diff">${lines.join("")}</pre>`;
  return `<details${isOpen ? " open" : ""}>${head}${body}</details>`;
}

function section(who: string, { timestamp }: Event, body: string, name = "agent"): string {
  if (body === "") return "";
  const when = timestamp === undefined ? "" : ` <time>${escapeHtml(timestamp)}</time>`;
  return `<section class="${name}"><h2>${who}${when}</h2>${body}</section>\n`;
}

function note(sentence: string, isBad = false): string {
  return `<section><p class="note${isBad ? " bad" : ""}">${escapeHtml(shortened(sentence))}</p></section>\n`;
}

/** Texts as Markdown, and pictures that are in the log itself. */
function contentHtml(content: unknown): string {
  return partsOf(content)
    .map((part) => {
      if (part["type"] !== "image") return proseHtml(text(part, "text"));
      const urls = Array.isArray(part["image_urls"]) ? part["image_urls"] : [];
      return urls
        .map((url) =>
          typeof url === "string" && picture.test(url)
            ? `<p><img alt="picture" src="${escapeHtml(url)}"></p>`
            : `<p class="note">[picture]</p>`,
        )
        .join("");
    })
    .join("");
}

function proseHtml(prose: string): string {
  return prose.length > maxMarkdown ? `<pre>${escapeHtml(prose)}</pre>` : markdownHtml(prose);
}
