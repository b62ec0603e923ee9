import { useState } from "react";
import { useWords } from "../words/words.ts";
import { useNotifications } from "./use-notifications.ts";

/**
 * Announces changes to screen readers: approvals at once (assertive), ends of runs politely. Streamed answers are
 * not announced.
 */
export default function Announcer() {
  const words = useWords().announce;
  const [polite, setPolite] = useState("");
  const [urgent, setUrgent] = useState("");
  useNotifications(({ kind, title, what }) => {
    if (kind === "asks") setUrgent(words.asks(what));
    else if (kind === "failed") setUrgent(words.failed(title ?? ""));
    else setPolite(words.done(title ?? ""));
  });
  return (
    <>
      <p role="status" className="sr-only">
        {polite}
      </p>
      <p role="alert" className="sr-only">
        {urgent}
      </p>
    </>
  );
}
