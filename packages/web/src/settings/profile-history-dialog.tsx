import type { ProfileDifference, ProfileRevision } from "@convoke/protocol";
import { useCallback, useEffect, useState } from "react";
import { exactTime } from "../lib/shown-times.ts";
import { useServices } from "../services/services.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Problem } from "../ui/problem.tsx";
import { useMoreWords } from "../words/words.ts";
import { sentenceOf } from "./use-resource.ts";

type HistoryProps = {
  /** Stored models, or profiles of agents. */
  readonly kind: "profiles" | "agent-profiles";
  readonly name: string;
  readonly onClose: () => void;
  /** Called when the profile is another one now. */
  readonly onRestored: () => void;
};

/** What a stored model or agent was: compare with what it is now, and restore. */
export default function ProfileHistoryDialog({ kind, name, onClose, onRestored }: HistoryProps) {
  const revisions = `/api/${kind}/{name}/revisions` as const;
  const words = useMoreWords().settings.history;
  const { client } = useServices();
  const [items, setItems] = useState<readonly ProfileRevision[]>([]);
  const [nextPage, setNextPage] = useState<string | null>(null);
  const [compared, setCompared] = useState<Compared | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setIsBusy] = useState(false);
  const attempt = useCallback(async (act: () => Promise<void>): Promise<void> => {
    setProblem(null);
    setIsBusy(true);
    try {
      await act();
    } catch (error) {
      setProblem(sentenceOf(error));
    }
    setIsBusy(false);
  }, []);
  const read = useCallback(
    async (pageId: string | null): Promise<void> => {
      const query = { limit: 20, ...(pageId === null ? {} : { page_id: pageId }) };
      const page = await client.call(`GET ${revisions}`, { params: { name }, query });
      setItems((before) => (pageId === null ? page.items : [...before, ...page.items]));
      setNextPage(page.next_page_id);
    },
    [client, name, revisions],
  );
  useEffect(() => void attempt(() => read(null)), [attempt, read]);
  const current = items.find(({ is_current: isCurrent }) => isCurrent)?.number;
  const compare = async (from: number): Promise<void> => {
    const query = { from, to: current ?? from };
    const { differences } = await client.call(`GET ${revisions}/compare`, { params: { name }, query });
    setCompared({ from, differences });
  };
  const restore = async (number: number): Promise<void> => {
    const params = { name, number: String(number) };
    await client.call(`POST ${revisions}/{number}/restore`, { params });
    setCompared(null);
    onRestored();
    await read(null);
  };
  return (
    <Dialog title={words.title(name)} onClose={onClose} width="w-[40rem]">
      <p className="mb-3 text-sm text-soft">{words.about[kind]}</p>
      <Problem text={problem} />
      <ul className="lines">
        {items.map((revision) => (
          <li key={revision.number} className="py-1.5">
            <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
              <Line revision={revision} />
              {!revision.is_current && (
                <span className="flex flex-wrap gap-2">
                  <Button
                    disabled={isBusy}
                    aria-expanded={compared?.from === revision.number}
                    aria-label={`${words.compare}: ${words.revision(revision.number)}`}
                    onClick={() =>
                      compared?.from === revision.number
                        ? setCompared(null)
                        : void attempt(() => compare(revision.number))
                    }
                  >
                    {words.compare}
                  </Button>
                  <Button
                    disabled={isBusy}
                    aria-label={`${words.restore}: ${words.revision(revision.number)}`}
                    onClick={() => void attempt(() => restore(revision.number))}
                  >
                    {words.restore}
                  </Button>
                </span>
              )}
            </div>
            {compared?.from === revision.number && <Differences differences={compared.differences} />}
          </li>
        ))}
      </ul>
      {nextPage !== null && (
        <Button disabled={isBusy} onClick={() => void attempt(() => read(nextPage))}>
          {words.older}
        </Button>
      )}
    </Dialog>
  );
}

type Compared = { readonly from: number; readonly differences: readonly ProfileDifference[] };

function Line({ revision }: { readonly revision: ProfileRevision }) {
  const words = useMoreWords().settings.history;
  const { language } = useServices();
  const { number, change, restored_from: from } = revision;
  const marks = [
    from === null ? words.changes[change] : words.restoredFrom(from),
    ...(revision.is_current ? [words.current] : []),
    ...(revision.is_pinned ? [words.pinned] : []),
  ];
  return (
    <span className="min-w-0 grow">
      <span className="block text-sm font-medium">{words.revision(number)}</span>
      <span className="block text-xs text-faint">
        {[exactTime(revision.created_at, language), ...marks].join(", ")}
      </span>
    </span>
  );
}

function Differences({ differences }: Pick<Compared, "differences">) {
  const words = useMoreWords().settings.history;
  if (differences.length === 0) return <p className="mt-1 text-sm text-soft">{words.same}</p>;
  return (
    <div className="mt-2 overflow-x-auto rounded-md border border-line bg-raised px-3 py-2">
      <table className="w-full text-left text-xs">
        <thead className="text-soft">
          <tr>
            <th className="pr-3 font-medium">{words.field}</th>
            <th className="pr-3 font-medium">{words.before}</th>
            <th className="font-medium">{words.now}</th>
          </tr>
        </thead>
        <tbody className="font-mono">
          {differences.map(({ path, is_secret: isSecret, from, to }) => (
            <tr key={path.join(".")} className="align-top">
              <td className="py-0.5 pr-3">{path.join(".")}</td>
              {isSecret ? (
                <td className="text-soft" colSpan={2}>
                  {words.secret}
                </td>
              ) : (
                <>
                  <td className="pr-3 break-all">{shown(from)}</td>
                  <td className="break-all">{shown(to)}</td>
                </>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function shown(value: unknown): string {
  if (value === undefined) return "–";
  return typeof value === "string" ? value : JSON.stringify(value);
}
