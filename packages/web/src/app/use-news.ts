import { useEffect, useRef } from "react";
import { useStore } from "../lib/store.ts";
import { knownOf, newsOf, type Known, type News } from "../overview/news.ts";
import { useServices } from "../services/services.ts";

/** Calls back for everything that happens in any conversation while this is drawn. */
export function useNews(onNews: (news: News) => void): void {
  const { overview, approvals } = useServices();
  const { summaries } = useStore(overview);
  const waiting = useStore(approvals);
  const known = useRef<Known | null>(null);
  const notify = useRef(onNews);
  useEffect(() => {
    notify.current = onNews;
  }, [onNews]);
  useEffect(() => {
    const news = newsOf(known.current, summaries, waiting);
    known.current = knownOf(summaries, waiting);
    for (const item of news) notify.current(item);
  }, [summaries, waiting]);
}
