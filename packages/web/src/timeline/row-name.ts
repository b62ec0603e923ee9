import { firstLine, summarizeCall } from "@convoke/client/view";
import type { Item } from "./items.ts";

/** The accessible name of an item; its content follows. */
export function nameOfItem(item: Item): string {
  if (item.type !== "row") return item.type === "group" ? `${item.rows.length}` : item.type;
  const { row } = item;
  switch (row.type) {
    case "message":
    case "answer":
    case "hint":
      return firstLine(row.text).slice(0, 120);
    case "action":
      return `${row.summary || row.tool} ${firstLine(summarizeCall(row, null).text).slice(0, 120)}`.trim();
    case "error":
      return row.code;
    default:
      return row.type;
  }
}
