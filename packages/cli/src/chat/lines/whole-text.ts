import { editsOf, foldRows, partsText, listAt } from "@convoke/client/view";
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
  const call = JSON.stringify(row.action, null, 2);
  return [
    ...(row.reasoning === "" ? [] : [printable(row.reasoning), ""]),
    theme.paint.bold(printable(row.tool)),
    ...(edits.length > 0 ? diffText(edits, theme, true) : [printable(call), "", printable(output)]),
  ].join("\n");
}
