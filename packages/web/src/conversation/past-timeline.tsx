import { useCallback, useEffect, useMemo, useState, type ComponentType } from "react";
import { useLocation } from "wouter";
import { conversationAddress } from "../lib/conversation-address.ts";
import { useStore } from "../lib/store.ts";
import type { OpenLog } from "../log/open-log.ts";
import { useServices } from "../services/services.ts";
import { ScrollToRow, rowOf } from "../timeline/scroll-to-row.tsx";
import type { RowMenu } from "../timeline/row-menu.ts";
import type { Target, TimelineProps } from "../timeline/timeline.tsx";
import { Button } from "../ui/button.tsx";
import { useMoreWords, useWords } from "../words/words.ts";
import { MatchBar } from "./match-bar.tsx";

type PastTimelineProps = {
  readonly id: string;
  /** The event to show. */
  readonly at: string;
  /** The search query, if a search led here. */
  readonly q: string;
  readonly sends: number;
  readonly menu: RowMenu;
  /** The timeline component, passed in so that this chunk does not include it. */
  readonly Timeline: ComponentType<TimelineProps>;
};

/** The conversation around an older event; it reaches the present when the user scrolls down. */
export default function PastTimeline({ id, at, q, menu, sends, Timeline }: PastTimelineProps) {
  const words = useMoreWords().search;
  const { toNow } = useWords().timeline;
  const [, navigate] = useLocation();
  const { key, log } = useWindow(id, at);
  const onNow = useCallback(
    (): void => navigate(conversationAddress(id, location.search, { event: null, q: null })),
    [navigate, id],
  );
  const [sendsAtFirst] = useState(sends);
  // A sent message returns to the present.
  useEffect(() => {
    if (sends !== sendsAtFirst) onNow();
  }, [sends, sendsAtFirst, onNow]);
  const target = useMemo<Target>(
    () => ({ rowOf: (rows) => rowOf(rows, at), ScrollToRow, onNow }),
    [at, onNow],
  );
  const { phase } = useStore(log.view);
  return (
    <>
      {q !== "" && <MatchBar id={id} at={at} q={q} onNow={onNow} />}
      {(phase === "failed" || phase === "missing") && (
        <div className="flex grow flex-col items-center justify-center gap-3 text-soft">
          <p role="alert">{words.gone}</p>
          <Button onClick={onNow}>{toNow}</Button>
        </div>
      )}
      {phase === "ready" ? (
        <Timeline key={key} log={log} menu={menu} sends={sends} target={target} />
      ) : (
        <div
          className={phase === "failed" || phase === "missing" ? "" : "grow"}
          aria-busy={phase === "loading"}
        />
      )}
    </>
  );
}

/** A window that includes the event; the current one if it already does. */
function useWindow(id: string, at: string): { readonly key: string; readonly log: OpenLog } {
  const { logs } = useServices();
  const [anchor, setAnchor] = useState(at);
  const log = logs.get(id, anchor);
  if (anchor !== at) {
    const { rows, lastEventId } = log.view.snapshot();
    const isInside = rows[0] !== undefined && rows[0].id <= at && at <= (lastEventId ?? "");
    if (!isInside) setAnchor(at);
  }
  useEffect(() => logs.watch(id, anchor), [logs, id, anchor]);
  return { key: anchor, log };
}
