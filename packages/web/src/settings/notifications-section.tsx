import { useState } from "react";
import { useServices } from "../services/services.ts";
import { useMoreWords } from "../words/words.ts";
import {
  notificationKinds,
  readNotificationPreferences,
  writeNotificationPreferences,
} from "./notification-preferences.ts";
import { isSubscribedToPush, subscribeToPush } from "./browser-push.ts";
import { Explanation } from "./parts.tsx";
import { Problem } from "../ui/problem.tsx";
import { PushToggle } from "./push-toggle.tsx";
import { sentenceOf } from "./use-resource.ts";

/** Notification settings of this browser. The browser's permission is requested when the first kind is enabled. */
export function NotificationsSection() {
  const words = useMoreWords().settings.notifications;
  const { client, storage } = useServices();
  const [preferences, setPreferences] = useState(() => readNotificationPreferences(storage));
  const [permission, setPermission] = useState(permissionNow);
  const [problem, setProblem] = useState<string | null>(null);
  const mayNotify = async (): Promise<boolean> => {
    const given = permission === "default" ? await Notification.requestPermission() : permission;
    setPermission(given);
    return given === "granted";
  };
  const prepare = async (): Promise<readonly (typeof notificationKinds)[number][] | null> => {
    const wanted = notificationKinds.filter((kind) => preferences[kind]);
    if (!(await mayNotify())) return null;
    if (wanted.length > 0) return wanted;
    const all = { asks: true, done: true, failed: true };
    setPreferences(all);
    writeNotificationPreferences(storage, all);
    return notificationKinds;
  };
  const setPreference = async (
    kind: (typeof notificationKinds)[number],
    isWanted: boolean,
  ): Promise<void> => {
    const next = { ...preferences, [kind]: isWanted };
    setPreferences(next);
    writeNotificationPreferences(storage, next);
    if (isWanted) await mayNotify();
    if (!isSubscribedToPush(storage)) return;
    setProblem(null);
    const wanted = notificationKinds.filter((one) => next[one]);
    await subscribeToPush({ client, storage }, wanted, words.kinds).catch((error: unknown) =>
      setProblem(sentenceOf(error)),
    );
  };
  return (
    <>
      <Explanation>{words.explanation}</Explanation>
      <Problem
        text={permission === "missing" ? words.missing : permission === "denied" ? words.denied : null}
      />
      <Problem text={problem} />
      <fieldset disabled={permission === "missing"}>
        <legend className="sr-only">{words.legend}</legend>
        {notificationKinds.map((kind) => (
          <label
            key={kind}
            className="flex items-center gap-2.5 rounded px-2 py-1.5 hover:bg-hover pointer-coarse:min-h-11"
          >
            <input
              type="checkbox"
              className="size-4 accent-accent-fill"
              checked={preferences[kind]}
              onChange={(event) => void setPreference(kind, event.target.checked)}
            />
            {words.kinds[kind]}
          </label>
        ))}
      </fieldset>
      <h3 className="mt-5 mb-1 font-medium">{words.pushTitle}</h3>
      <PushToggle prepare={prepare} />
    </>
  );
}

/** Browsers allow notifications only over HTTPS or on localhost. */
function permissionNow(): NotificationPermission | "missing" {
  return "Notification" in window && window.isSecureContext ? Notification.permission : "missing";
}
