import { useState } from "react";
import { useServices } from "../services/services.ts";
import { useMoreWords } from "../words/words.ts";
import { newsKinds, readWishes, writeWishes } from "./notification-wishes.ts";
import { Explanation, Problem } from "./parts.tsx";

/** What this browser tells of when the page is not looked at. It is asked for its permission with the first wish, never before. */
export function NotificationsSection() {
  const words = useMoreWords().settings.notifications;
  const { keep } = useServices();
  const [wishes, setWishes] = useState(() => readWishes(keep));
  const [permission, setPermission] = useState(permissionNow);
  const wish = async (kind: (typeof newsKinds)[number], isWanted: boolean): Promise<void> => {
    const next = { ...wishes, [kind]: isWanted };
    setWishes(next);
    writeWishes(keep, next);
    if (isWanted && permission === "default") setPermission(await Notification.requestPermission());
  };
  return (
    <>
      <Explanation>{words.explanation}</Explanation>
      <Problem
        text={permission === "missing" ? words.missing : permission === "denied" ? words.denied : null}
      />
      <fieldset disabled={permission === "missing"}>
        <legend className="sr-only">{words.legend}</legend>
        {newsKinds.map((kind) => (
          <label
            key={kind}
            className="flex items-center gap-2.5 rounded px-2 py-1.5 hover:bg-hover pointer-coarse:min-h-11"
          >
            <input
              type="checkbox"
              className="size-4 accent-accent-fill"
              checked={wishes[kind]}
              onChange={(event) => void wish(kind, event.target.checked)}
            />
            {words.kinds[kind]}
          </label>
        ))}
      </fieldset>
    </>
  );
}

/** Browsers give them to pages of https and of this machine only. */
function permissionNow(): NotificationPermission | "missing" {
  return "Notification" in window && window.isSecureContext ? Notification.permission : "missing";
}
