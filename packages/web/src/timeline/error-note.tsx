import { useMoreWords, useWords } from "../words/words.ts";

/** A feature that the agent continues without. */
const passing = new Set(["MCPServerFailed", "MCPToolsOmitted", "ToolFilterFailed"]);

/** The error text, its code and the next step. */
export default function ErrorNote({ code, detail }: { readonly code: string; readonly detail: string }) {
  const words = useWords();
  const more = useMoreWords();
  const next = (more.nextSteps as Readonly<Record<string, string>>)[code];
  const isPassing = passing.has(code);
  return (
    <div className={`my-2 rounded-md px-3 py-2 text-sm ${isPassing ? "bg-warn-wash" : "bg-bad-wash"}`}>
      <p>
        <span className={`font-medium ${isPassing ? "text-warn" : "text-bad"}`}>
          {isPassing ? more.continuesWithout : words.note.failed}
        </span>{" "}
        <span className="font-mono text-xs text-soft">{code}</span>
      </p>
      {detail !== "" && <p className="mt-0.5 break-words whitespace-pre-wrap">{detail}</p>}
      {next !== undefined && <p className="mt-1 text-soft">{next}</p>}
    </div>
  );
}
