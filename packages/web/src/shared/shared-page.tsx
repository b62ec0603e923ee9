import { ApiError } from "@convoke/client";
import type { ConversationInfo } from "@convoke/protocol";
import type { UnknownRecord } from "@convoke/client/view";
import { Link2 } from "lucide-react";
import { Suspense, useEffect, useMemo, useState } from "react";
import Meters from "../conversation/meters.tsx";
import { ConversationTitle } from "../conversation/conversation-title.tsx";
import { lazyPart } from "../lib/lazy-part.ts";
import { exactTime } from "../lib/shown-times.ts";
import { useStore } from "../lib/store.ts";
import { useServices } from "../services/services.ts";
import { Timeline } from "../timeline/timeline.tsx";
import { Button } from "../ui/button.tsx";
import { StateMark } from "../ui/state-mark.tsx";
import { useMoreWords, useWords } from "../words/words.ts";

const DownloadDialog = lazyPart(() => import("../conversation/download-dialog.tsx"));

type Found = ConversationInfo | "over" | "failed" | null;

/** What a visitor with a share link sees: the conversation to read and to download. */
export function SharedPage({ id }: { readonly id: string }) {
  const { client, logs } = useServices();
  const { share: words, rail, conversation } = { ...useMoreWords(), ...useWords() };
  const [found, setFound] = useState<Found>(null);
  const [tries, setTries] = useState(0);
  const { state: link } = useStore(logs.get(id).link);
  // Asked again where the connection is lost: the link may have ended.
  const isLost = link === "lost";
  useEffect(() => {
    let isGone = false;
    client.getConversation(id).then(
      (info) => !isGone && setFound(info),
      (error: unknown) => {
        const isOver = error instanceof ApiError && [401, 403, 404].includes(error.status);
        if (!isGone) setFound((before) => (isOver ? "over" : (before ?? "failed")));
      },
    );
    return () => {
      isGone = true;
    };
  }, [client, id, isLost, tries]);
  const title = typeof found === "object" ? (found?.title ?? rail.untitled) : words.title;
  useEffect(() => {
    document.title = title;
  }, [title]);
  if (found === null) return <main className="h-dvh" aria-busy="true" />;
  if (typeof found === "object") return <SharedLog id={id} info={found} />;
  return (
    <main className="flex h-dvh flex-col items-center justify-center gap-3 px-6 text-center text-soft">
      <p role="alert">{found === "over" ? words.over : conversation.failed}</p>
      {found === "failed" && (
        <Button
          onClick={() => {
            setFound(null);
            setTries(tries + 1);
          }}
        >
          {conversation.tryAgain}
        </Button>
      )}
    </main>
  );
}

function SharedLog({ id, info }: { readonly id: string; readonly info: ConversationInfo }) {
  const { logs, language } = useServices();
  const { share: words, download, rail, conversation } = { ...useMoreWords(), ...useWords() };
  const [isDownloading, setIsDownloading] = useState(false);
  const { expires_at: end = "", up_to_event_id: upTo = null } = info.share ?? {};
  // One that ends at an event has no state and nothing to follow, as a moment of the past.
  const past = useMemo<UnknownRecord | null>(
    () => (upTo === null ? null : { conversation: info, version: 0 }),
    // eslint-disable-next-line react/exhaustive-deps -- the same event has the same log, whatever was read with it
    [upTo],
  );
  const log = useMemo(() => logs.get(id, "", past), [logs, id, past]);
  useEffect(() => logs.watch(id, "", past), [logs, id, past]);
  const { phase, state } = useStore(log.view);
  return (
    <main className="flex h-dvh flex-col">
      <header className="flex h-11 shrink-0 items-center gap-2.5 border-b border-line px-3 max-[720px]:gap-2">
        {past === null ? (
          <>
            <StateMark status={state.status} />
            <ConversationTitle id={id} state={state} />
            <span className="grow" />
            <Meters state={state} />
          </>
        ) : (
          <h1 className="min-w-0 grow truncate font-medium">{info.title ?? rail.untitled}</h1>
        )}
        <Button variant="quiet" onClick={() => setIsDownloading(true)}>
          {download.title}
        </Button>
      </header>
      <p className="flex shrink-0 items-center gap-2 border-b border-line bg-raised px-3 py-1.5 text-xs text-soft">
        <Link2 size={14} className="shrink-0" aria-hidden="true" />
        {past === null ? words.until(exactTime(end, language)) : words.partUntil(exactTime(end, language))}
      </p>
      {isDownloading && (
        <Suspense>
          <DownloadDialog id={id} folder={null} isShared onClose={() => setIsDownloading(false)} />
        </Suspense>
      )}
      {phase === "ready" && <Timeline log={log} menu={null} sends={0} />}
      {phase === "loading" && <div className="grow" aria-busy="true" />}
      {(phase === "failed" || phase === "missing") && (
        <div className="flex grow flex-col items-center justify-center gap-3 text-soft">
          <p role="alert">{conversation.failed}</p>
          <Button onClick={() => log.show()}>{conversation.tryAgain}</Button>
        </div>
      )}
    </main>
  );
}
