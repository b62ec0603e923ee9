import { useEffect } from "react";
import { useRoute } from "wouter";
import { useStore } from "../lib/store.ts";
import { useServices } from "../services/services.ts";
import { useWords } from "../words/words.ts";

/** The title of the tab: the number of approvals, and the name of the screen. */
export function useTitle(waiting: number): void {
  const words = useWords();
  const { overview } = useServices();
  const { summaries } = useStore(overview);
  const [, open] = useRoute<{ id: string }>("/c/:id");
  const title = open === null ? null : summaries.find(({ id }) => id === open.id)?.title;
  useEffect(() => {
    const count = waiting > 0 ? `(${waiting}) ` : "";
    document.title = `${count}${title ? `${title} · ` : ""}${words.appName}`;
  }, [waiting, title, words]);
}
