import { type ActionRow, asRecord } from "@convoke/client/view";
import { visibleText } from "../text/visible-text.ts";
import { LongText } from "./long-text.tsx";

/** Arguments of a call without a card of its own. */
export function ArgumentTable({ row }: { readonly row: ActionRow }) {
  const fields = asRecord(row.action?.["data"]) ?? row.action ?? asRecord(parsed(row.callText)) ?? {};
  const entries = Object.entries(fields).filter(([key, value]) => key !== "kind" && value !== null);
  if (entries.length === 0) return row.action === null ? <LongText text={row.callText} /> : null;
  return (
    <dl className="grid grid-cols-[max-content_1fr] gap-x-4 gap-y-1 border-b border-line px-3 py-2">
      {entries.map(([key, value]) => (
        <div key={key} className="contents">
          <dt className="font-mono text-xs leading-5 text-faint">{key}</dt>
          <dd className="min-w-0 font-mono text-xs leading-5 break-words whitespace-pre-wrap">
            {visibleText(typeof value === "string" ? value : JSON.stringify(value, null, 2))}
          </dd>
        </div>
      ))}
    </dl>
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // The arguments are not JSON: show the text.
    return null;
  }
}
