import { useState } from "react";
import { longTimeoutMs, saveFile } from "../lib/save-file.ts";
import { useServices } from "../services/services.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { useMoreWords } from "../words/words.ts";

type DownloadDialogProps = {
  readonly id: string;
  /** Working directory of the conversation; null until it is known. */
  readonly folder: string | null;
  /** For a visitor with a share link, who reads the log alone. */
  readonly isShared?: boolean;
  readonly onClose: () => void;
};

const transcript = "GET /api/conversations/{conversation_id}/transcript";

const ofShares: ReadonlySet<string> = new Set(["markdown", "jsonl", "zip"]);

/** Downloads: transcript, replay, events, workspace files. */
export default function DownloadDialog({ id, folder, isShared = false, onClose }: DownloadDialogProps) {
  const { download: words, replay } = useMoreWords();
  const { client } = useServices();
  const [busy, setBusy] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [left, setLeft] = useState(0);
  const params = { conversation_id: id };
  const timeoutMs = longTimeoutMs;
  const choices = {
    markdown: () => client.open(transcript, { params, timeoutMs }),
    html: async () => {
      const { makeReplay, ReplayTooLong } = await import("./make-replay.ts");
      try {
        const { file, tasksLeft } = await makeReplay(client, id);
        setLeft(tasksLeft);
        return file;
      } catch (error) {
        if (error instanceof ReplayTooLong) throw new Error(words.tooLong, { cause: error });
        throw error;
      }
    },
    jsonl: () => client.open(transcript, { params, query: { format: "jsonl" }, timeoutMs }),
    atif: () => client.open(transcript, { params, query: { format: "atif" }, timeoutMs }),
    zip: () => client.open("GET /api/file/download-trajectory/{conversation_id}", { params, timeoutMs }),
    files: () =>
      client.open("GET /api/conversations/{runtime_conversation_id}/file/archive", {
        params: { runtime_conversation_id: id },
        query: { path: folder ?? "", format: "tar.gz" },
        timeoutMs,
      }),
  } as const;
  const names = (Object.keys(choices) as (keyof typeof choices)[]).filter(
    (name) => !isShared || ofShares.has(name),
  );
  const save = async (name: keyof typeof choices): Promise<void> => {
    setBusy(name);
    setProblem(null);
    setLeft(0);
    try {
      await saveFile(await choices[name](), name === "html" ? `${id}.html` : id);
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
    setBusy(null);
  };
  return (
    <Dialog title={words.title} onClose={onClose} width="w-[26rem]">
      <ul className="flex flex-col gap-2">
        {names.map((name) => (
          <li key={name} className="flex items-center gap-3">
            <span className="min-w-0 grow text-sm">{words.choices[name]}</span>
            <Button
              aria-label={`${words.save}: ${words.choices[name]}`}
              disabled={busy !== null || (name === "files" && folder === null)}
              onClick={() => void save(name)}
            >
              {busy === name ? words.saving : words.save}
            </Button>
          </li>
        ))}
      </ul>
      {left > 0 && (
        <p role="status" className="mt-3 text-sm text-soft">
          {replay.left(left)}
        </p>
      )}
      {problem !== null && (
        <p role="alert" className="mt-3 text-sm text-bad">
          {problem}
        </p>
      )}
    </Dialog>
  );
}
