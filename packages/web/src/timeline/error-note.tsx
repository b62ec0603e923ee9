import { useMoreWords, useWords } from "../words/words.ts";

/** What failed in words, its code, and what to do next. */
export default function ErrorNote({ code, detail }: { readonly code: string; readonly detail: string }) {
  const words = useWords();
  const next = (useMoreWords().nextSteps as Readonly<Record<string, string>>)[code];
  return (
    <div className="my-2 rounded-md bg-bad-wash px-3 py-2 text-sm">
      <p>
        <span className="font-medium text-bad">{words.note.failed}</span>{" "}
        <span className="font-mono text-xs text-soft">{code}</span>
      </p>
      {detail !== "" && <p className="mt-0.5 break-words whitespace-pre-wrap">{detail}</p>}
      {next !== undefined && <p className="mt-1 text-soft">{next}</p>}
    </div>
  );
}
