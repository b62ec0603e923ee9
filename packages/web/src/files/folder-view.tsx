import type { FolderEntry } from "@convoke/protocol";
import { Download, File, Folder } from "lucide-react";
import { useEffect, useState } from "react";
import { baseName, shownSize } from "@convoke/client/view";
import { withPage } from "../lib/paged.ts";
import { longTimeoutMs, saveFile } from "../lib/save-file.ts";
import { shownTime } from "../lib/shown-times.ts";
import { useServices } from "../services/services.ts";
import { visibleText } from "../text/visible-text.ts";
import { Button } from "../ui/button.tsx";
import { Problem } from "../ui/problem.tsx";
import { useMoreWords } from "../words/words.ts";

type FolderViewProps = {
  readonly conversationId: string;
  /** Absolute. */
  readonly path: string;
  readonly version: string;
  readonly onOpen: (entry: FolderEntry) => void;
};

type Listed = {
  readonly path: string;
  readonly entries: readonly FolderEntry[] | null;
  readonly nextPageId: string | null;
  readonly problem: string | null;
};

/** The entries of a folder. */
export function FolderView({ conversationId, path, version, onOpen }: FolderViewProps) {
  const words = useMoreWords().files;
  const { client, language } = useServices();
  const [listed, setListed] = useState<Listed>({ path, entries: null, nextPageId: null, problem: null });
  const read = async (pageId: string | null, signal?: AbortSignal): Promise<void> => {
    try {
      const page = await client.call("GET /api/conversations/{runtime_conversation_id}/files", {
        params: { runtime_conversation_id: conversationId },
        query: { path, ...(pageId === null ? {} : { page_id: pageId }) },
        ...(signal === undefined ? {} : { signal }),
      });
      const { items, next_page_id: nextPageId = null } = page;
      setListed((before) => {
        if (pageId === null) return { path, entries: items, nextPageId, problem: null };
        const list = {
          items: before.entries ?? [],
          nextPageId: before.path === path ? before.nextPageId : null,
        };
        const { items: entries, nextPageId: next } = withPage(list, pageId, { items, nextPageId }) ?? list;
        return { ...before, entries, nextPageId: next, problem: null };
      });
    } catch (error) {
      if (signal?.aborted === true) return;
      const problem = error instanceof Error ? error.message : String(error);
      setListed((before) => ({ ...before, path, problem }));
    }
  };
  useEffect(() => {
    const stop = new AbortController();
    void read(null, stop.signal);
    return () => stop.abort();
    // `read` changes with each render; its inputs are the dependencies.
    // eslint-disable-next-line react/exhaustive-deps
  }, [client, conversationId, path, version]);
  const { entries, nextPageId, problem } =
    listed.path === path ? listed : { ...listed, entries: null, problem: null };
  return (
    <>
      <SaveFolder key={path} conversationId={conversationId} path={path} />
      <Problem className="m-3" text={problem} />
      {entries === null && problem === null && <div className="h-8" aria-busy="true" />}
      {entries?.length === 0 && <p className="px-3 py-3 text-faint">{words.empty}</p>}
      <ul className="py-1">
        {entries?.map((entry) => (
          <li key={entry.name}>
            <button
              type="button"
              disabled={entry.type === "other"}
              onClick={() => onOpen(entry)}
              className="flex w-full items-center gap-2 px-3 py-0.5 text-left hover:bg-hover disabled:opacity-50 disabled:hover:bg-transparent pointer-coarse:min-h-11"
            >
              {entry.type === "directory" ? (
                <Folder size={14} className="shrink-0 text-accent" />
              ) : (
                <File size={14} className="shrink-0 text-faint" />
              )}
              <span className="min-w-0 grow truncate">{visibleText(entry.name)}</span>
              <span className="shrink-0 text-xs text-faint tabular-nums">
                {entry.size === null ? "" : shownSize(entry.size)}
              </span>
              <span className="w-16 shrink-0 text-right text-xs text-faint tabular-nums">
                {entry.modified_at === null ? "" : shownTime(entry.modified_at, language, new Date())}
              </span>
            </button>
          </li>
        ))}
      </ul>
      {entries !== null && nextPageId !== null && (
        <div className="px-3 pb-3">
          <Button onClick={() => void read(nextPageId)}>{words.more}</Button>
        </div>
      )}
    </>
  );
}

type SaveFolderProps = Pick<FolderViewProps, "conversationId" | "path">;

/** Downloads a folder with its subfolders. */
function SaveFolder({ conversationId, path }: SaveFolderProps) {
  const words = useMoreWords().files;
  const { client } = useServices();
  const [isBusy, setIsBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const save = async (): Promise<void> => {
    setIsBusy(true);
    setProblem(null);
    try {
      const reply = await client.open("GET /api/conversations/{runtime_conversation_id}/file/archive", {
        params: { runtime_conversation_id: conversationId },
        query: { path, format: "zip" },
        timeoutMs: longTimeoutMs,
      });
      await saveFile(reply, `${baseName(path)}.zip`);
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
    setIsBusy(false);
  };
  return (
    <div className="flex items-center gap-2 border-b border-line bg-raised px-3 py-1 text-sm">
      <span role={problem === null ? undefined : "alert"} className="grow text-bad">
        {problem}
      </span>
      <Button variant="quiet" disabled={isBusy} onClick={() => void save()}>
        <Download size={13} />
        {isBusy ? words.packing : words.saveFolder}
      </Button>
    </div>
  );
}
