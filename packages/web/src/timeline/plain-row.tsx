import { type Row, textAt } from "@convoke/client/view";
import { useWords } from "../words/words.ts";

/** Maximum characters; the events panel shows all. */
const maxShown = 20_000;

/** Fallback for a row whose card failed to render: its plain text. */
export function PlainRow({ row }: { readonly row: Row }) {
  const words = useWords();
  return (
    <div data-plain-row="" className="my-1 min-w-0 rounded-md border border-line bg-sunken px-3 py-2">
      <p className="text-xs text-faint">{words.plainRow}</p>
      <pre className="max-h-96 overflow-auto font-mono text-xs break-words whitespace-pre-wrap">
        {plainTextOf(row).slice(0, maxShown)}
      </pre>
    </div>
  );
}

/** The readable text of a row of any type. */
function plainTextOf(row: Row): string {
  switch (row.type) {
    case "message":
    case "answer":
    case "hint":
    case "prompt":
      return row.text;
    case "action":
      return [
        row.thought,
        row.summary,
        row.tool,
        textAt(row.action, "message") || row.callText,
        outcomeText(row),
      ]
        .filter((text) => text !== "")
        .join("\n");
    case "condensation":
      return row.summary;
    case "error":
    case "warning":
      return `${row.code}: ${row.detail}`;
    case "hook":
      return [row.hookType, row.command, row.reason, row.output].filter((text) => text !== "").join("\n");
    case "unknown":
      return row.kind;
    default:
      return row.type;
  }
}

function outcomeText({ outcome }: Extract<Row, { type: "action" }>): string {
  switch (outcome?.type) {
    case "failed":
      return outcome.error;
    case "rejected":
      return outcome.reason;
    case "result": {
      const { content, text } = outcome.observation;
      if (typeof text === "string") return text;
      return Array.isArray(content) ? content.map((part) => textAt(part as never, "text")).join("\n") : "";
    }
    default:
      return "";
  }
}
