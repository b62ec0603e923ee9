import { useEffect, useState } from "react";
import { shownTime } from "../lib/shown-times.ts";
import { useStore } from "../lib/store.ts";
import type { OpenLog } from "../log/open-log.ts";
import { useServices } from "../services/services.ts";
import { Button } from "../ui/button.tsx";
import { useWords } from "../words/words.ts";

/** Disconnects shorter than this are not shown. */
const quietMs = 2_000;

/** Shows since when the server cannot be reached; nothing while connected. */
export default function ConnectionLine({ log }: { readonly log: OpenLog }) {
  const words = useWords().connection;
  const { language } = useServices();
  const { state, sinceMs } = useStore(log.link);
  const [isLong, setIsLong] = useState(false);
  useEffect(() => {
    setIsLong(false);
    if (state !== "lost") return;
    const timer = setTimeout(() => setIsLong(true), quietMs);
    return () => clearTimeout(timer);
  }, [state, sinceMs]);
  if (state !== "lost" || !isLong) return null;
  return (
    <div
      role="status"
      className="flex items-center justify-center gap-3 border-b border-line bg-warn-wash py-1 text-sm text-warn"
    >
      {words.lost(shownTime(new Date(sinceMs).toISOString(), language, new Date()))}
      <Button variant="quiet" onClick={() => log.wake()}>
        {words.tryNow}
      </Button>
    </div>
  );
}
