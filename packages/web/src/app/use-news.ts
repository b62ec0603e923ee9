import { useEffect, useRef } from "react";
import { useStore } from "../lib/store.ts";
import { knownOf, newsOf, type Known, type News } from "../overview/news.ts";
import { useServices } from "../services/services.ts";

/** Calls back for everything that happens in any conversation while this is drawn. */
export function useNews(onNews: (news: News) => void): void {
  const { overview, approvals } = useServices();
  const { glances } = useStore(overview);
  const waiting = useStore(approvals);
  const known = useRef<Known | null>(null);
  const tell = useRef(onNews);
  useEffect(() => {
    tell.current = onNews;
  }, [onNews]);
  useEffect(() => {
    const news = newsOf(known.current, glances, waiting);
    known.current = knownOf(glances, waiting);
    for (const item of news) tell.current(item);
  }, [glances, waiting]);
}
