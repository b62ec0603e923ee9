import { editsOf, foldRows, partsText, listAt, textAt, type ActionRow } from "@convoke/client/view";
import type { Event } from "@convoke/protocol";
import { printable } from "../../print/printable.ts";
import { diffText } from "./diff-text.ts";
import { createTheme } from "../screen/theme.ts";

const theme = createTheme({ hasColour: true, isAscii: false, mayMove: false });

/** All of a call and its outcome, or of what the model thought, for a pager. */
export function wholeText(events: readonly Event[]): string {
  const [row] = foldRows(events);
  if (row === undefined) return "";
  if (row.type === "answer") return printable(`${row.reasoning}\n\n${row.text}`);
  if (row.type !== "action") return "";
  const edits = editsOf(row);
  const { outcome } = row;
  const output =
    outcome?.type === "result"
      ? partsText(listAt(outcome.observation, "content"))
      : outcome?.type === "failed"
        ? outcome.error
        : "";
  return [
    ...(row.reasoning === "" ? [] : [printable(row.reasoning), ""]),
    ...callOf(row),
    ...(edits.length > 0 ? diffText(edits, theme, true) : ["", printable(output)]),
  ].join("\n");
}

function callOf(row: ActionRow): string[] {
  const command = row.action?.["kind"] === "TerminalAction" ? textAt(row.action, "command") : "";
  if (command !== "") return [theme.paint.bold(printable(`${theme.signs.command} ${command}`))];
  const head = theme.paint.bold(printable(row.tool));
  return editsOf(row).length > 0 ? [head] : [head, printable(JSON.stringify(row.action, null, 2))];
}
