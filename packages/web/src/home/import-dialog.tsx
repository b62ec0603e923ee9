import type { ImportResult } from "@convoke/protocol";
import { useState } from "react";
import { Link } from "wouter";
import { longTimeoutMs } from "../lib/save-file.ts";
import { useServices } from "../services/services.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Field } from "../ui/field.tsx";
import { Problem } from "../ui/problem.tsx";
import { useMoreWords } from "../words/words.ts";

type ImportDialogProps = { readonly onClose: () => void };

/** Sends the chosen files one after another, and shows what came of each conversation in them. */
export default function ImportDialog({ onClose }: ImportDialogProps) {
  const words = useMoreWords().import;
  const { client } = useServices();
  const [files, setFiles] = useState<readonly File[]>([]);
  const [hasNewIds, setNewIds] = useState(false);
  const [busy, setBusy] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [results, setResults] = useState<readonly ImportResult[]>([]);

  const send = async (isDryRun: boolean): Promise<void> => {
    setProblem(null);
    setResults([]);
    try {
      for (const file of files) {
        setBusy(file.name);
        const body = new FormData();
        body.set("file", file);
        const query = { dry_run: isDryRun, new_ids: hasNewIds };
        const report = await client.call("POST /api/conversations/import", {
          body,
          query,
          timeoutMs: longTimeoutMs,
        });
        setResults((before) => [...before, ...report.results]);
      }
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
    setBusy(null);
  };

  const isIdle = files.length > 0 && busy === null;
  return (
    <Dialog title={words.title} onClose={onClose} width="w-[36rem]">
      <p className="mb-3 text-sm text-soft">{words.about}</p>
      <Field label={words.files}>
        {(id) => (
          <input
            id={id}
            type="file"
            multiple
            accept=".zip,.tar,.gz,.tgz,.jsonl,.ndjson"
            className="w-full text-sm"
            onChange={(event) => setFiles([...(event.target.files ?? [])])}
          />
        )}
      </Field>
      <label className="mb-3 flex items-center gap-2 text-sm">
        <input type="checkbox" checked={hasNewIds} onChange={(event) => setNewIds(event.target.checked)} />
        {words.newIds}
      </label>
      <div className="flex justify-end gap-2">
        <Button disabled={!isIdle} onClick={() => void send(true)}>
          {words.check}
        </Button>
        <Button variant="primary" disabled={!isIdle} onClick={() => void send(false)}>
          {words.start}
        </Button>
      </div>
      <p role="status" className="mt-2 text-sm text-faint">
        {busy === null ? "" : words.working(busy)}
      </p>
      <Problem text={problem} />
      <ul className="lines text-sm">
        {results.map((result) => (
          <ResultLine key={`${result.source} ${result.conversation_id}`} result={result} onOpen={onClose} />
        ))}
      </ul>
    </Dialog>
  );
}

function ResultLine({ result, onOpen }: { readonly result: ImportResult; readonly onOpen: () => void }) {
  const words = useMoreWords().import;
  const { status, source, title, events, warnings, detail, conversation_id: id } = result;
  const isHere = status === "imported" || status === "unchanged";
  return (
    <li className="py-1.5">
      <div className="flex items-center gap-2.5">
        <span className="min-w-0 grow truncate">{title ?? source}</span>
        <span className="shrink-0 text-xs text-faint">{words.events(events)}</span>
        <span className={`shrink-0 text-xs ${status === "refused" ? "text-bad" : "text-soft"}`}>
          {words.statuses[status]}
        </span>
        {isHere && id !== null && (
          <Link href={`/c/${id}`} onClick={onOpen} className="shrink-0 underline underline-offset-2">
            {words.show}
          </Link>
        )}
      </div>
      {[...(detail === null ? [] : [detail]), ...warnings].map((text) => (
        <p key={text} className="text-xs break-words text-soft">
          {text}
        </p>
      ))}
    </li>
  );
}
